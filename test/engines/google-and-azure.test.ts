import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { EngineFailed } from "../../src/domain/errors.ts";
import type { AudioFormat } from "../../src/domain/synthesis/formats.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { azureProvider } from "../../src/engines/azure/provider.ts";
import type { Speech, SpeechRequest } from "../../src/engines/engine.ts";
import { googleProvider } from "../../src/engines/google/provider.ts";
import type { ProviderClient } from "../../src/engines/provider.ts";
import { upstreamDeadlines } from "../../src/engines/provider-http/connection.ts";
import { createExchange } from "../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard } from "../../src/engines/provider-http/ssrf-guard.ts";
import { engineContract, say } from "../contracts/engine.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";
import { azureSubscriptionKey, serveAzure } from "../support/wire/azure.ts";
import type { Fault } from "../support/wire/faults.ts";
import { closedGate } from "../support/wire/gate.ts";
import { googleApiKey, serveGoogle } from "../support/wire/google.ts";
import type { WireServer } from "../support/wire/wire-server.ts";

const never = new AbortController().signal;
const guard = createSsrfGuard({ by: "operator" });
const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children. ";

interface Provided {
  readonly name: string;
  readonly voice: string;
  readonly secret: string;
  /** Longer than the limit of one call. */
  readonly longText: string;
  readonly formats: readonly AudioFormat[];
  serve(): Promise<WireServer>;
  open(url: string, deadlines?: Partial<typeof upstreamDeadlines>): ProviderClient;
}

const exchangeWith = (deadlines: Partial<typeof upstreamDeadlines> = {}) =>
  createExchange({ guard, deadlines: { ...upstreamDeadlines, ...deadlines } });

const google: Provided = {
  name: "gwn",
  voice: "en-US-Neural2-C",
  secret: googleApiKey,
  longText: sentence.repeat(62),
  formats: ["mp3", "ogg"],
  serve: serveGoogle,
  open: (url, deadlines) =>
    googleProvider({ exchange: exchangeWith(deadlines), url }).open({ apiKey: googleApiKey }),
};

const azure: Provided = {
  name: "msv",
  voice: "en-US-JennyNeural",
  secret: azureSubscriptionKey,
  longText: sentence.repeat(44),
  formats: ["mp3", "ogg", "wav"],
  serve: serveAzure,
  open: (url, deadlines) =>
    azureProvider({ exchange: exchangeWith(deadlines), url }).open({
      subscriptionKey: azureSubscriptionKey,
      region: "westeurope",
    }),
};

const requestOf = ({ voice }: Provided, changed: Partial<SpeechRequest> = {}): SpeechRequest => ({
  text: sentence,
  ssml: false,
  voice,
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
  ...changed,
});

/** The samples that ffmpeg decodes; any warning fails the test. */
const decoded = ({ encoding }: Speech, sound: Buffer): Buffer => {
  const raw = encoding.kind === "pcm" ? ["-f", "s16le", "-ar", String(encoding.sampleRate), "-ac", "1"] : [];
  const quiet = ["-nostdin", "-hide_banner", "-loglevel", "error", "-xerror"];
  const { status, stdout, stderr } = spawnSync(
    "ffmpeg",
    [...quiet, ...raw, "-i", "pipe:0", "-ar", "24000", "-ac", "1", "-f", "s16le", "pipe:1"],
    { input: sound, maxBuffer: 256 << 20, timeout: 240_000, killSignal: "SIGKILL" },
  );
  expect({ status, stderr: stderr.toString() }).to.deep.equal({ status: 0, stderr: "" });
  return stdout;
};

for (const provided of [google, azure]) {
  engineContract(provided.name, async () => {
    const wire = await provided.serve();
    return {
      engine: provided.open(wire.url).engine,
      request: requestOf(provided),
      longText: provided.longText,
      unspeakable: " … \n — ",
      idle: () => wire.idle(),
      end: () => wire.close(),
    };
  });

  describe(`The engine ${provided.name} against its wire server`, () => {
    let wire: WireServer;
    let account: ProviderClient;

    before(async () => {
      wire = await provided.serve();
      account = provided.open(wire.url);
    });
    after(() => wire.close());
    afterEach(() => wire.faults.none());

    const speak = async (
      changed: Partial<SpeechRequest> = {},
    ): Promise<{ speech: Speech; sound: Buffer }> => {
      const speech = await account.engine.synthesize(requestOf(provided, changed), never);
      return { speech, sound: Buffer.concat(await collect(speech.audio)) };
    };

    for (const format of provided.formats) {
      it(`returns ${format} that decodes without warnings`, async () => {
        const { speech, sound } = await speak({ format });
        if (format !== "wav") expect(speech.encoding).to.deep.equal({ kind: "encoded", format });
        expect(decoded(speech, sound).length / 48_000).to.be.within(3, 9);
      });
    }

    it("returns a long text as one, with the duration of all pieces", async () => {
      const calls = wire.requests.length;
      const { speech, sound } = await speak({ text: provided.longText });
      expect(speech.encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
      expect(wire.requests.length - calls).to.be.above(1);
      const { speech: one, sound: once } = await speak({ format: "wav" });
      const times = decoded(speech, sound).length / decoded(one, once).length;
      const sentences = provided.longText.length / sentence.length;
      expect(times).to.be.within(0.8 * sentences, 1.2 * sentences);
    });

    it("returns the same audio for SSML as for its plain text", async () => {
      const { sound } = await speak();
      const { sound: same } = await speak({ text: `<speak>${sentence}</speak>`, ssml: true });
      expect(same.equals(sound)).to.equal(true);
    });

    it("lists its voices, including the provider's own", async () => {
      expect(await account.listVoices(never)).to.deep.include({
        name: provided.voice,
        lang: "en-US",
        gender: "f",
      });
    });

    it("sends no request for a text without anything to pronounce", async () => {
      const calls = wire.requests.length;
      await rejection(speak({ text: "…\n— !" }));
      expect(wire.requests.length).to.equal(calls);
    });

    for (const [rule, fault, said] of [
      ["closes the connection before the response", { kind: "cut before the answer" }, undefined],
      ["closes the connection within the response", { kind: "cut" }, undefined],
      ["returns an empty body", { kind: "empty" }, "no audio"],
      ["returns a proxy's HTML page", { kind: "html" }, "is invalid"],
      ["returns malformed data", { kind: "malformed" }, "is invalid"],
      [
        "responds with HTTP 500",
        { kind: "refusal", status: 500, message: "Backend error." },
        "Backend error.",
      ],
    ] as const satisfies readonly (readonly [string, Fault, string | undefined])[]) {
      for (const format of provided.formats) {
        it(`fails for ${format} when the provider ${rule}`, async () => {
          wire.faults.always(fault);
          const failure = await rejection(speak({ format }));
          expect(failure).to.be.instanceOf(EngineFailed);
          expect((failure as Error).message)
            .to.include(said ?? "")
            .and.not.include(provided.secret);
          await wire.idle();
        });
      }
    }

    it("passes on the provider's Retry-After", async () => {
      wire.faults.next({ kind: "refusal", status: 429, message: "Quota exceeded.", retryAfter: "7" });
      const failure = await rejection(speak());
      expect(failure).to.include({ message: "Quota exceeded.", retryAfterSeconds: 7, status: 429 });
    });

    it("reports a refusal without a message by its status, and redacts key and text from messages", async () => {
      wire.faults.next({ kind: "answer", response: { status: 401, headers: {}, body: Buffer.alloc(0) } });
      expect((await rejection(speak())) as Error)
        .to.have.property("message")
        .that.includes("401");
      wire.faults.next({
        kind: "refusal",
        status: 400,
        message: `Bad key ${provided.secret} for ${sentence}`,
      });
      const { message } = (await rejection(speak())) as Error;
      expect(message).to.include("Bad key").and.not.include(provided.secret).and.not.include("fox");
    });

    it("sends one request per call: retries are a decorator's task", async () => {
      const calls = wire.requests.length;
      wire.faults.next({ kind: "refusal", status: 503 });
      await rejection(speak());
      expect(wire.requests.length).to.equal(calls + 1);
    });

    it("fails when the provider does not respond before the deadline", async () => {
      wire.faults.next({ kind: "hang" });
      const impatient = provided.open(wire.url, { firstByteMs: 20 });
      expect(await rejection(say(impatient.engine, requestOf(provided)))).to.be.instanceOf(UpstreamFailed);
      await wire.idle();
    });

    it("closes the connection when the caller aborts", async () => {
      const gate = closedGate();
      wire.faults.next({ kind: "slow", gate });
      const controller = new AbortController();
      const reason = new Error("the caller left");
      const asking = account.engine.synthesize(requestOf(provided), controller.signal);
      await gate.reached();
      controller.abort(reason);
      expect(await rejection(asking)).to.equal(reason);
      await wire.idle();
      expect(wire.requests.at(-1)?.outcome).to.equal("left");
    });

    it("fails midway when a later piece fails, after the audio of the pieces before it", async () => {
      const { audio } = await account.engine.synthesize(
        requestOf(provided, { text: provided.longText }),
        never,
      );
      wire.faults.always({ kind: "refusal", status: 500, message: "Backend error." });
      let received = 0;
      const read = async () => {
        for await (const chunk of audio) received += chunk.length;
      };
      expect(await rejection(read())).to.have.property("message", "Backend error.");
      expect(received).to.be.above(48_000);
      await wire.idle();
    });
  });
}

describe("The first audio of a text", () => {
  it("arrives from Google before most of the text has been requested", async () => {
    const wire = await serveGoogle();
    try {
      const { engine } = google.open(wire.url);
      const text = `Hello there. ${sentence.repeat(10)}`;
      const { audio, encoding } = await engine.synthesize(
        requestOf(google, { text, progressive: true }),
        never,
      );
      expect(wire.requests).to.have.length(1);
      expect(encoding.kind).to.equal("pcm");
      await collect(audio);
      const texts = wire.requests.map(({ body }) => JSON.parse(body.toString()).input.text);
      expect(texts.join("")).to.equal(text);
      expect(texts[0].length).to.be.below(120);
    } finally {
      await wire.close();
    }
  });

  it("arrives from Azure while the rest is still being sent", async () => {
    const wire = await serveAzure();
    try {
      const gate = closedGate();
      wire.faults.next({ kind: "trickle", gate });
      const asking = azure.open(wire.url).engine.synthesize(requestOf(azure), never);
      gate.step();
      const { audio } = await asking;
      const received = audio[Symbol.asyncIterator]();
      expect((await received.next()).done).to.equal(false);
      expect(wire.requests[0]?.outcome).to.equal("active");
      gate.open();
      while (!(await received.next()).done);
      await wire.until(() => wire.requests[0]?.outcome === "answered");
    } finally {
      await wire.close();
    }
  });
});
