import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import { authorize, type Credentials, registerWebsite } from "../support/client.ts";
import { filesWith, formsIn } from "../support/find-text.ts";
import { adminToken, type RunningService, startInstance } from "../support/instance.ts";
import { descendantsOf, gone, until } from "../support/processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { openWebSocketClient } from "../support/websocket-client.ts";
import { openRawClient } from "../wyoming/raw-client.ts";

const marker = "Quillfrost";
let texts = 0;
/** A text that was never sent before. */
const fresh = (): string => `The ${marker} number ${++texts} is ready.`;

const signals = ["SIGKILL", "SIGABRT", "SIGTRAP"] as const;
const english = ["US English Female", "UK English Female"] as const;
const [hibari] = english;

/** What a model reads and reports of a text must be nowhere but in the response. */
describe("The texts and phonemes of natural voices", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: RunningService;
  let website: Credentials;
  /** Command lines and environments of the processes that the service started. */
  const commands = new Set<string>();
  /** The marker as voices pronounce it. */
  const pronounced = new Set<string>();
  /** The responses of models whose processes ended in the middle of a text. */
  const interrupted: Response[] = [];

  before(async function () {
    this.timeout(900_000); // on a busy machine
    const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
    // `scripts/natural-voices` installs them.
    if (!installed.has("hibari:heart") || !installed.has("pico:en-GB")) return this.skip();
    folder = await temporaryFolder();
    await mkdir(join(folder.path, "tmp"));
    const env = {
      VOICES: "natural",
      LOG_LEVEL: "trace",
      TMPDIR: join(folder.path, "tmp"),
      NODE_COMPILE_CACHE: join(folder.path, "compiled"),
      BURST_LIMIT: "100000",
    };
    const first = await startInstance(join(folder.path, "data"), env);
    website = await registerWebsite(first.url);
    await first.stop();
    service = await startInstance(join(folder.path, "data"), {
      ...env,
      WYOMING_PORT: "0",
      WYOMING_KEY: `${website.apiKey}.${website.apiSecret}`,
    });
    for (const voice of english) await speakThroughEveryDoor(voice);
    for (const signal of signals) await endModel(signal);
  });
  after(async () => {
    await service?.stop();
    await folder?.remove();
  });

  const noteCommands = (): void => {
    for (const { pid } of descendantsOf(service.pid)) {
      for (const file of ["cmdline", "environ"]) {
        try {
          commands.add(readFileSync(`/proc/${pid}/${file}`, "latin1"));
        } catch {
          // It exited meanwhile.
        }
      }
    }
  };
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const request = () =>
      fetch(service.url + path, {
        ...init,
        headers: { ...authorize(website), ...(init.headers as Record<string, string>) },
      });
    let response = await request();
    while ([429, 503].includes(response.status)) response = await request(); // the machine is busy
    const body = Buffer.from(await response.arrayBuffer());
    noteCommands();
    return new Response(body, response);
  };
  const get = (query: Record<string, string>) => send(`/v2/text/synthesize?${new URLSearchParams(query)}`);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  const leaksIn = (bytes: Buffer): string[] => [
    ...formsIn(bytes, marker),
    ...(bytes.toString("latin1").match(/type[\\"]*:[\\"]*(phoneme|viseme)/g) ?? []),
    ...[...pronounced].filter((phonemes) => spellingsOf(phonemes).some((one) => bytes.includes(one))),
  ];

  const speakThroughEveryDoor = async (voice: (typeof english)[number]): Promise<void> => {
    const synthesize = "/v2/text/synthesize";
    const speech = () => ({ model: "tts-1", voice, input: fresh(), response_format: "wav" });
    const text = fresh();
    const elevenLabs = `/elevenlabs/v1/text-to-speech/${voice.replaceAll(" ", "_")}`;
    const spoken = [
      await get({ voice, text }),
      await get({ voice, text }),
      await get({ voice, text: `The ${marker}.\u2028cancel\u2028Another ${marker}.` }),
      await get({ voice, text: `<speak>${marker} <break/> once</speak>` }),
      await get({
        voice,
        text: `<speak><phoneme alphabet="ipa" ph="kwɪlfɹɔst">${marker}</phoneme> once</speak>`,
      }),
      await post(synthesize, { voice, text: fresh() }),
      await post("/openai/v1/audio/speech", speech()),
      await post("/openai/v1/audio/speech", { ...speech(), stream_format: "sse" }),
      ...(await Promise.all(
        ["", "/stream", "/with-timestamps", "/stream/with-timestamps"].map((form) =>
          post(elevenLabs + form, { text: fresh() }),
        ),
      )),
      await post(
        `/admin/keys/${website.apiKey}/speech`,
        { voice, text: fresh() },
        { Authorization: `Bearer ${adminToken}` },
      ),
    ];
    const link = /<([^>]+marks\.json)>/.exec(spoken[0]?.headers.get("link") ?? "")?.[1] ?? "";
    const marks = [
      await get({ voice, text, marks: "phoneme" }),
      await get({ voice, text: fresh(), marks: "phoneme" }),
      await post(synthesize, { voice, text: fresh(), marks: "phoneme" }),
    ];
    const seen = [...spoken, await send(link), ...marks].map(({ status }) => status);
    expect(seen).to.deep.equal(seen.map(() => 200));
    for (const response of marks) {
      const lines = await response.text();
      expect(leaksIn(Buffer.from(lines))).to.include.members(
        voice === hibari ? ["plain", 'type":"phoneme'] : ["plain"],
      );
      const found = pronunciationsIn(lines);
      expect(found).to.have.lengthOf(1);
      for (const phonemes of found) if (phonemes !== "") pronounced.add(phonemes);
    }

    const { url } = JSON.parse(service.log.find((line) => line.includes('"msg":"wyoming"')) ?? "");
    const wyoming = await openRawClient(url);
    wyoming.send("synthesize", { text: fresh(), voice: { name: voice } });
    const events: string[] = [];
    for (let event = await wyoming.next(); event; event = await wyoming.next()) {
      events.push(event.type);
      if (event.type === "audio-stop" || event.type === "error") break;
    }
    expect(events.at(-1)).to.equal("audio-stop");
    wyoming.socket.destroy();

    const socket = await openWebSocketClient(`${service.url.replace("http", "ws")}/v2/text/stream`, {
      headers: authorize(website),
    });
    const id = "00000000-0000-4000-8000-000000000001";
    socket.send({ type: "synthesize", id, request: { voice, text: fresh() } });
    await socket.next(); // only engines of websites stream
    await socket.close();
  };

  /** Ends the model's process in the middle of a text. */
  const endModel = async (signal: (typeof signals)[number]): Promise<void> => {
    const speakers = (): number[] =>
      descendantsOf(service.pid)
        .map(({ pid }) => pid)
        .filter((pid) => commandOf(pid).includes("models/hibari/speaker.ts"));
    // On a busy machine the load after a failure may fail too. Then the next text loads the model.
    const isNatural = ({ headers }: Response): boolean =>
      headers.get("cache-control")?.includes("max-age=86400") ?? false;
    while (!isNatural(await get({ voice: hibari, text: fresh() })));
    const worked = new Map(speakers().map((pid) => [pid, cpuTicksOf(pid)]));
    const response = get({ voice: hibari, text: `${fresh()} `.repeat(20), marks: "phoneme" });
    const busy = (): number[] => speakers().filter((pid) => cpuTicksOf(pid) > (worked.get(pid) ?? 0) + 5);
    await until("a process speaks", () => busy().length > 0);
    const pids = busy();
    for (const pid of pids) process.kill(pid, signal);
    await gone(...pids);
    interrupted.push(await response);
  };

  it("have phonemes, which the response reports", () => {
    expect([...pronounced].map((phonemes) => phonemes.length > 4)).to.include(true);
  });

  it("are in no log line, at the least severe level", () => {
    expect(service.log.filter((line) => leaksIn(Buffer.from(line)).length > 0)).to.deep.equal([]);
    expect(service.log.some((line) => line.includes("The model hibari_heart"))).to.equal(true);
  });

  it("are in no error of a model whose process ended in the middle of a text", async () => {
    expect(interrupted).to.have.length(signals.length);
    const errors = await Promise.all(interrupted.filter(({ ok }) => !ok).map((response) => response.text()));
    expect(errors.filter((body) => leaksIn(Buffer.from(body)).length > 0)).to.deep.equal([]);
  });

  it("are in no report to operators and auditors", async () => {
    for (const path of ["/health", "/admin/status", "/admin/audit", "/admin/events", "/admin/sounds"]) {
      const response = await send(path, { headers: { Authorization: `Bearer ${adminToken}` } });
      expect(response.status, path).to.equal(200);
      expect(leaksIn(Buffer.from(await response.arrayBuffer())), path).to.deep.equal([]);
    }
  });

  it("are in no command line and no environment of the models", () => {
    expect([...commands].some((command) => command.includes("models/pico/speaker.ts"))).to.equal(true);
    expect([...commands].filter((command) => leaksIn(Buffer.from(command)).length > 0)).to.deep.equal([]);
  });

  it("are in no core dump: no process of the service writes one", () => {
    for (const pid of [service.pid, ...descendantsOf(service.pid).map(({ pid }) => pid)])
      expect(readFileSync(`/proc/${pid}/limits`, "utf8")).to.match(/^Max core file size +0 +0 /m);
  });

  it("are in no file: event log, audio, marks, snapshots, temporary files, compiled code", async () => {
    await service.stop();
    expect(await filesWith(folder.path, marker)).to.deep.equal([]);
    const entries = await readdir(folder.path, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.some((file) => file.endsWith("marks.json"))).to.equal(true);
    // Compiled code contains the service's own examples of phonemes.
    for (const file of files.filter((one) => !one.startsWith(join(folder.path, "compiled"))))
      expect(leaksIn(await readFile(file)), file).to.deep.equal([]);
    expect(readdirSync("/dev/shm").filter((name) => name.startsWith("voxledger-"))).to.deep.equal([]);
  });
});

interface MarkLine {
  readonly type: string;
  readonly start: number;
  readonly value: string;
}

/** The phonemes of each word that is the marker. */
const pronunciationsIn = (lines: string): string[] => {
  const marks = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as MarkLine);
  const words = marks.filter(({ type, value }) => type === "word" && value === marker);
  return words.map(({ start }) =>
    marks
      .filter((mark) => mark.type === "phoneme" && mark.start === start)
      .map(({ value }) => value)
      .join(""),
  );
};

/** The bytes in which phonemes may occur: together, as marks, and as a list. */
const spellingsOf = (phonemes: string): Buffer[] => {
  const list = JSON.stringify([...phonemes]).slice(1, -1);
  const escaped = (text: string): string =>
    text.replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [
    ...[phonemes, list, escaped(phonemes), escaped(list), encodeURIComponent(phonemes)].map((text) =>
      Buffer.from(text),
    ),
    Buffer.from(phonemes, "utf16le"),
  ];
};

/** User and system time, which are its 14th and 15th value. */
const cpuTicksOf = (pid: number): number => {
  try {
    const values = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(values[11]) + Number(values[12]);
  } catch {
    return 0; // It exited meanwhile.
  }
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // It exited meanwhile.
  }
};
