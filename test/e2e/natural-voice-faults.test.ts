import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import type { ErrorResponse } from "../../src/http/kernel/errors/error-response.ts";
import { authorize, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { cpuTicksOf, descendantsOf, gone, until } from "../support/processes.ts";
import { temporaryFolder } from "../support/service.ts";

/** A variable of the environment, so that Kokoro can be tested where it lies in another folder. */
const source = naturalVoicesFolder(process.env.NATURAL_VOICES_DIR) ?? "";
const tools = ["hibari", "pico", "kokoro"] as const;
type Tool = (typeof tools)[number];

const kept = "public, max-age=86400, s-maxage=604800";
const keptForAMinute = "public, max-age=60";

/** Takes seconds to speak. */
const sentence = "The birch canoe slid on the smooth planks.";
const long = `${sentence} `.repeat(20).trim();

interface Spoken {
  readonly status: number;
  readonly cache: string | null;
  readonly bytes: Buffer;
  readonly error: ErrorResponse["error"] | undefined;
}

type Query = Record<string, string> & { readonly text: string };

const isOverload = (error: Spoken["error"]): boolean =>
  /^Too many speech syntheses|^The audio was not ready in time/.test(error?.message ?? "");

/** A service over a folder whose files the test may change; `source` keeps its own. */
const openService = async () => {
  const folder = await temporaryFolder();
  for (const tool of tools) {
    const files = await readdir(join(source, tool)).catch(() => []);
    await mkdir(join(folder.path, tool));
    for (const file of files) await symlink(join(source, tool, file), join(folder.path, tool, file));
  }
  let service: InProcessService | undefined;
  let website: Credentials;
  const charged = { used: 0, requests: 0 };

  const url = (): string => service?.url ?? "";
  const ask = (query: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    synthesize(url(), website, query, init);
  const json = async (path: string) =>
    (await (await fetch(url() + path, { headers: authorize(website) })).json()) as never;

  /** A response with audio must be charged once. */
  const speakOnce = async (query: Query): Promise<Spoken> => {
    const response = await ask(query);
    charged.used += response.ok ? query.text.length : 0;
    charged.requests += response.ok ? 1 : 0;
    const bytes = await bytesOf(response);
    const error = response.ok ? undefined : (JSON.parse(bytes.toString()) as ErrorResponse).error;
    return { status: response.status, cache: response.headers.get("cache-control"), bytes, error };
  };

  return {
    start: async (): Promise<void> => {
      service = await startInProcessService({ VOICES: "natural", NATURAL_VOICES_DIR: folder.path });
      website = await registerWebsite(service.url);
    },
    close: async (): Promise<void> => {
      await service?.close();
      await folder.remove();
    },
    speakOnce,
    /**
     * Repeats a request that has waited for too long, as clients do: voices are slow on a busy
     * machine.
     */
    speak: async (query: Query): Promise<Spoken> => {
      for (;;) {
        const spoken = await speakOnce(query);
        if (!isOverload(spoken.error)) return spoken;
      }
    },
    /** Asks for a response that begins when all of the text is spoken. */
    speakWhole: async (voice: string, input: string): Promise<void> => {
      const response = await fetch(`${url()}/openai/v1/audio/speech`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${website.apiKey}.${website.apiSecret}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ model: "tts-1", voice, input, response_format: "wav" }),
      });
      const bytes = await bytesOf(response);
      expect(response.status, bytes.subarray(0, 200).toString()).to.equal(200);
      charged.used += input.length;
      charged.requests += 1;
      expect(bytes.length).to.be.above(1_000_000);
    },
    ask,
    /** Compares the usage of the key with what its requests cost. */
    expectCharges: async (): Promise<void> => {
      const { used, requests }: typeof charged = await json("/v2/usage");
      expect({ used, requests }).to.deep.equal(charged);
    },
    /** The health of the service and of its natural voices. */
    health: async () => {
      const { status, parts }: { status: string; parts: { voices: { status: string; detail?: string } } } =
        await json("/health");
      return { status, voices: parts.voices };
    },
    remove: (file: string): Promise<void> => rm(join(folder.path, file)),
    damage: async (file: string): Promise<void> => {
      const path = join(folder.path, file);
      const content = await readFile(path);
      await rm(path);
      await writeFile(path, content.subarray(0, content.length / 2));
    },
    repair: async (file: string): Promise<void> => {
      const path = join(folder.path, file);
      await rm(path, { force: true });
      await symlink(join(source, file), path);
    },
    /** The processes that were started with files of this folder. */
    speakers: (tool: Tool): number[] =>
      descendantsOf(process.pid)
        .map(({ pid }) => pid)
        .filter((pid) => {
          const line = commandLineOf(pid);
          return line.includes(`models/${tool}/`) && line.includes(folder.path);
        }),
  };
};

type Service = Awaited<ReturnType<typeof openService>>;

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It has exited.
  }
};

const kill = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) process.kill(pid, signal);
};

/** Resolves when one of these processes works for a text. */
const atWork = async (speakers: () => readonly number[]): Promise<void> => {
  const before = new Map(speakers().map((pid) => [pid, cpuTicksOf(pid)]));
  const hasWorked = (pid: number): boolean => cpuTicksOf(pid) - (before.get(pid) ?? 0) > 5;
  await until("a process speaks", () => speakers().some(hasWorked));
};

const isInstalled = async (...names: readonly string[]): Promise<boolean> => {
  const { installed } = await openNaturalVoices(source);
  return names.every((name) => installed.has(name));
};

const voices = [
  { voice: "US English Female", tool: "hibari", name: "hibari:heart", file: "hibari/hibari.onnx" },
  { voice: "UK English Female", tool: "pico", name: "pico:en-GB", file: "pico/en-GB_ta.bin" },
] as const;

for (const { voice, tool, name, file } of voices) {
  describe(`A service with faults of ${name}`, () => {
    const other = voices.find((one) => one.tool !== tool)?.voice ?? "";
    let service: Service;

    before(async function () {
      // `scripts/natural-voices` installs them.
      if (!(await isInstalled(...voices.map((one) => one.name), "pico:de-DE"))) this.skip();
    });
    beforeEach(async () => {
      service = await openService();
    });
    afterEach(() => service.close());

    const expectNatural = async (voice: string, text: string): Promise<void> => {
      const { status, cache, error } = await service.speak({ voice, text });
      expect([status, cache], error?.message ?? text).to.deep.equal([200, kept]);
    };
    const expectFallback = async (text: string): Promise<void> => {
      const { status, cache, bytes } = await service.speak({ voice, text });
      expect([status, cache], text).to.deep.equal([200, keptForAMinute]);
      expect(bytes.length).to.be.above(1_000);
    };
    const others = [other, "Deutsch Female"];
    const expectOthersNatural = async (): Promise<void> => {
      await expectNatural(other, "Another voice.");
      await expectNatural("Deutsch Female", "Eine andere Stimme.");
    };
    let attempts = 0;
    /** On a busy machine a voice may take longer to load than its first texts wait. */
    const load = async (...names: readonly string[]): Promise<void> => {
      for (const name of names)
        for (let loaded = false; !loaded; ) {
          const { status, cache, error } = await service.speak({
            voice: name,
            text: `Attempt ${++attempts}.`,
          });
          expect(status, error?.message).to.equal(200);
          loaded = cache === kept;
        }
    };
    /** A voice that has failed again and again is tried again 15 seconds later. */
    const expectNaturalAgain = async (): Promise<void> => {
      await load(voice);
      for (let status = ""; status !== "ok"; ) ({ status } = await service.health());
    };
    const expectHealthToName = async (what: string): Promise<void> => {
      const { status, voices } = await service.health();
      expect([status, voices.status]).to.deep.equal(["degraded", "down"]);
      expect(voices.detail).to.include(what);
    };
    const speakers = (): number[] => service.speakers(tool);

    for (const [fault, harm] of [
      ["missing", () => service.remove(file)],
      ["damaged", () => service.damage(file)],
    ] as const) {
      it(`speaks by the fallback when a file is ${fault} at the start, and health names the voice`, async () => {
        await harm();
        await service.start();
        await load(...others);
        await expectFallback("One.");
        await expectHealthToName(name);
        await expectOthersNatural();
        await service.expectCharges();
      });

      it(`speaks by the fallback when a file is ${fault} later and its process has ended, and by the voice again after a repair`, async () => {
        await service.start();
        await load(voice, ...others);
        await harm();
        const loaded = speakers();
        kill(loaded, "SIGKILL");
        await gone(...loaded);
        for (const text of ["One.", "Two.", "Three.", "Four."]) await expectFallback(text);
        await expectHealthToName(tool);
        await expectOthersNatural();
        await service.repair(file);
        await expectNaturalAgain();
        await service.expectCharges();
      });
    }

    // A process of Pico loads each voice when it first speaks: those that are loaded still speak.
    if (tool === "hibari") {
      it("starts a process that cannot load its files three times, and then no more", async () => {
        await service.start();
        await service.damage(file);
        await until("the voice is loaded", () => speakers().length > 0);
        const loaded = speakers();
        kill(loaded, "SIGKILL");
        await gone(...loaded);
        for (const text of ["One.", "Two.", "Three.", "Four."]) await expectFallback(text);
        await until("all of its processes have ended", () => speakers().length === 0);
        await expectFallback("Five.");
        expect(speakers()).to.deep.equal([]);
      });
    }

    it("speaks a text in another process when the first one is killed in the middle of it", async () => {
      await service.start();
      await load(voice);
      const killed = speakers();
      const working = atWork(speakers);
      const speaking = service.speakWhole(voice, long);
      await working;
      kill(killed, "SIGKILL");
      await speaking;
      await expectNatural(voice, "After.");
      expect(speakers()).to.not.include.members(killed);
      await service.expectCharges();
    });

    it("speaks by the fallback, after one 503 at most, while every process is killed, and by the voice afterwards", async () => {
      await service.start();
      await load(voice, ...others);
      let isOver = false;
      const killed = until("the fallback speaks", () => {
        kill(speakers(), "SIGKILL");
        return isOver;
      });
      const first = await service.speak({ voice, text: "One." });
      if (first.status !== 200) expect([first.status, first.error?.code]).to.deep.equal([503, "UNAVAILABLE"]);
      await expectFallback("Two.");
      await expectHealthToName(tool);
      isOver = true;
      await killed;
      await expectOthersNatural();
      await expectNaturalAgain();
      await service.expectCharges();
    });

    it("speaks by the fallback when its process hangs, replaces the process, and speaks other voices meanwhile", async () => {
      await service.start();
      await load(voice, other);
      const hanging = speakers();
      kill(hanging, "SIGSTOP");
      const speaking = expectFallback("During.");
      await expectNatural(other, "Another voice.");
      await speaking;
      await gone(...hanging);
      await load(voice);
      await expectNatural(voice, "After.");
      await service.expectCharges();
    });
  });
}

describe("A service without natural voices", () => {
  let service: Service;

  before(async function () {
    // `scripts/natural-voices` installs them.
    if (!(await isInstalled(...voices.map(({ name }) => name)))) this.skip();
  });
  beforeEach(async () => {
    service = await openService();
  });
  afterEach(() => service?.close());

  it("speaks by them soon after they were installed, also what their fallbacks have spoken", async () => {
    for (const { file } of voices) await service.remove(file);
    await service.start();
    for (const { voice } of voices)
      for (let round = 0; round < 3; round++)
        expect((await service.speak({ voice, text: "Hello." })).cache).to.equal(keptForAMinute);
    for (const { file } of voices) await service.repair(file);
    for (const { voice } of voices)
      for (let cache: string | null = null; cache !== kept; )
        ({ cache } = await service.speak({ voice, text: "Hello." }));
    // The event store may be slow for a moment on a busy machine.
    for (let status = ""; status !== "ok"; ) ({ status } = await service.health());
    expect((await service.health()).voices).to.deep.equal({ status: "ok" });
    await service.expectCharges();
  });
});

describe("A service with faults of kokoro:bf_emma", () => {
  const name = "kokoro:bf_emma";
  const lang = "en-GB";
  let service: Service;

  before(async function () {
    // `scripts/natural-voices --kokoro` installs it.
    if (!(await isInstalled(name))) this.skip();
  });
  beforeEach(async () => {
    service = await openService();
    await service.start();
  });
  afterEach(() => service?.close());

  const speakers = (): number[] => service.speakers("kokoro");
  const expectSpoken = async (text: string): Promise<void> => {
    const { status, cache, error } = await service.speak({ name, lang, text });
    expect([status, cache], error?.message ?? text).to.deep.equal([200, kept]);
  };
  /** Begins to speak a long text, and resolves in its first sentence. */
  const begin = async () => {
    const leave = new AbortController();
    const working = atWork(speakers);
    const response = service.ask({ name, lang, text: long }, { signal: leave.signal });
    response.catch(() => undefined);
    await working;
    return { leave: () => leave.abort() };
  };

  it("speaks a text in another process when the first one is killed in the middle of a sentence", async () => {
    await expectSpoken("Before.");
    const killed = speakers();
    const working = atWork(speakers);
    const speaking = expectSpoken("Two cats.");
    await working;
    kill(killed, "SIGKILL");
    await speaking;
    expect(speakers()).to.not.include.members(killed);
    await service.expectCharges();
  });

  it("speaks the next text after a client has left in the middle of a sentence, and charges only that", async () => {
    await expectSpoken("Before.");
    const { leave } = await begin();
    leave();
    await expectSpoken("After.");
    await service.expectCharges();
  });

  it("responds with 429 to texts of the same key behind a process that hangs, speaks other voices, and ends the process when its client leaves", async () => {
    await expectSpoken("Before.");
    const hanging = speakers();
    const { leave } = await begin();
    kill(hanging, "SIGSTOP");
    const waiting = service.speakOnce({ name, lang, text: "During." });
    expect((await service.speak({ voice: "UK English Male", text: "Another voice." })).cache).to.equal(kept);
    const { status, error } = await waiting;
    expect([status, error?.code]).to.deep.equal([429, "KEY_OVERLOADED"]);
    leave();
    await gone(...hanging);
    await expectSpoken("After.");
    await service.expectCharges();
  });
});
