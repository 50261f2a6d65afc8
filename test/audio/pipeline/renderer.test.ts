import { expect } from "chai";
import type { ReservedSlot } from "../../../src/async/scheduler/reserved-slot.ts";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import type { Decoder, Encoder } from "../../../src/audio/formats/encoder.ts";
import type { Rendition } from "../../../src/audio/pipeline/audio.ts";
import { createRenderer } from "../../../src/audio/pipeline/renderer.ts";
import { SharedSource } from "../../../src/audio/pipeline/shared-stream.ts";
import { EngineFailed, Interrupted, SpeechTooLong, Unavailable } from "../../../src/domain/errors.ts";
import { fixedRateFormats } from "../../../src/domain/synthesis/fixed-rate-formats.ts";
import { audioFormats } from "../../../src/domain/synthesis/formats.ts";
import type { Encoding, Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { duringSuite } from "../../support/during.ts";
import { until } from "../../support/manual-time.ts";
import { childrenOf } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { observed, openRealTools } from "./real-tools.ts";
import { renditionOf } from "./renditions.ts";

const never = new AbortController().signal;
const pcm: Encoding = { kind: "pcm", sampleRate: 22_050 };
const noise = Buffer.alloc(40_000, 77);
const fixed: readonly string[] = ["ulaw_8000", "alaw_8000", "wav_16000"];
/**
 * One of each container and codec, as ffmpeg writes it. The others differ from these in the rates
 * that ffmpeg is given.
 */
const someFormats = audioFormats.filter((format) => !(format in fixedRateFormats) || fixed.includes(format));

/** An engine with scripted output. */
const says = (encoding: Encoding, audio: (signal: AbortSignal) => AsyncIterable<Buffer>) => {
  const seen: { request?: SpeechRequest; signal?: AbortSignal } = {};
  const engine: Engine = {
    code: "g1",
    version: () => "1",
    prosody: () => [],
    takesSsml: () => false,
    synthesize: async (request, signal) => {
      Object.assign(seen, { request, signal });
      return { encoding, audio: audio(signal) };
    },
  };
  return { engine, seen };
};

describe("Rendering", () => {
  const real = duringSuite(openRealTools);

  const synthesisWith =
    (engine: Engine | undefined, more: { max?: number; encoder?: Encoder; decoder?: Decoder } = {}) =>
    async (rendition: Rendition, signal: AbortSignal): Promise<Buffer> => {
      const { render, finish } = createRenderer({
        engines: () => engine,
        encoder: more.encoder ?? real.encoder,
        ...(more.decoder && { decoder: more.decoder }),
        maxAudioBytes: more.max ?? 1024 * 1024,
      });
      const shared = new SharedSource({
        source: (shared) => render(rendition, { progressive: false }, shared),
        finish: (bytes, rendered) => finish(rendition.recipe.format, bytes, rendered),
        mayRestart: (error) => error instanceof Interrupted,
        readAheadBytes: 0,
        onOver: () => undefined,
      });
      return (await shared.readAll(signal)).bytes;
    };

  const failure = async (engine: Engine | undefined, more: { max?: number } = {}) => {
    const made = synthesisWith(engine, more)(renditionOf("Hello."), never);
    return await made.then(
      () => new Error("It was made."),
      (error: unknown) => error,
    );
  };

  it("reports phonemes at their time in the format, and only those of voices that report them", async () => {
    const { engine } = says(pcm, async function* () {
      yield noise;
    });
    const spoken = { time: 500, start: 0, end: 5, value: "h" };
    const speaking: Engine = {
      ...engine,
      reportsPhonemes: () => true,
      synthesize: async (...asked) => ({ ...(await engine.synthesize(...asked)), phonemes: () => [spoken] }),
    };
    const ofEngine = (one: Engine, format: "wav" | "mp3") =>
      createRenderer({ engines: () => one, encoder: real.encoder, maxAudioBytes: 1024 })
        .phonemes(renditionOf("Hello.", { format }), { waiter: createWaiter() }, never)
        .then((phonemes) => phonemes.map(({ time }) => time));
    expect(await ofEngine(speaking, "wav")).to.deep.equal([500]);
    const [inMp3 = 0] = await ofEngine(speaking, "mp3");
    expect(inMp3).to.be.within(520, 600);
    expect(await ofEngine({ ...speaking, reportsPhonemes: () => false }, "wav")).to.deep.equal([]);
  });

  for (const format of someFormats) {
    it(`gives the same ${format} for the same recipe, byte for byte`, async () => {
      const synthesize = synthesisWith(real.engine);
      const rendition = renditionOf("The quick brown fox.", { format });
      const [one, two] = await Promise.all([synthesize(rendition, never), synthesize(rendition, never)]);
      expect(one.equals(two)).to.equal(true);
      expect(one.length).to.be.greaterThan(5000);
    });
  }

  it("gives a wav its true length, though it came through a pipe", async () => {
    const wav = await synthesisWith(real.engine)(renditionOf("Hello.", { format: "wav" }), never);
    expect(wav.readUInt32LE(4)).to.equal(wav.length - 8);
  });

  for (const format of someFormats) {
    it(`fails when the encoder drops samples and exits normally: ${format}`, async () => {
      const { engine } = says(pcm, async function* () {
        for (let chunk = 0; chunk < 4; chunk++) yield noise;
      });
      const firstHalf = async function* (samples: AsyncIterable<Buffer>) {
        let chunks = 0;
        for await (const chunk of samples) if (chunks++ < 2) yield chunk;
      };
      const encoder: Encoder = {
        ...real.encoder,
        encode: (as, sampleRate, samples, signal) =>
          real.encoder.encode(as, sampleRate, firstHalf(samples), signal),
      };
      const made = synthesisWith(engine, { encoder })(renditionOf("Hello.", { format }), never);
      const error = await rejection(made);
      expect(error)
        .to.be.instanceOf(EngineFailed)
        .and.have.property("message")
        .that.contains("does not have the length");
    });
  }

  it("fails when the audio is shorter than its text can be", async () => {
    const { engine } = says(pcm, async function* () {
      yield noise; // 0.9 s
    });
    const withLeast = (minSeconds: number): Engine => ({
      ...engine,
      synthesize: async (...asked) => ({ ...(await engine.synthesize(...asked)), minSeconds }),
    });
    const made = synthesisWith(withLeast(1))(renditionOf("Hello."), never);
    expect((await rejection(made)) as Error)
      .to.be.instanceOf(EngineFailed)
      .and.have.property("message")
      .that.contains("parts of it are missing");
    expect(await synthesisWith(withLeast(0.9))(renditionOf("Hello."), never)).not.to.have.length(0);
  });

  describe("an engine that needs a decoder", () => {
    const reserving = (audio: () => AsyncIterable<Buffer>, failure?: Error): Engine => {
      const { engine } = says(pcm, audio);
      return {
        ...engine,
        synthesize: async (request, signal) => {
          for await (const _ of request.decode?.(audio(), "mp3", signal) ?? []);
          if (failure) throw failure;
          return engine.synthesize(request, signal);
        },
      };
    };
    const counted = () => {
      const counts = { reserved: 0, used: 0, released: 0 };
      const slot: ReservedSlot = { take: () => () => undefined, release: () => void counts.released++ };
      const encoder: Encoder = {
        ...real.encoder,
        reserve: async () => {
          counts.reserved++;
          return slot;
        },
        encode: (as, sampleRate, samples, signal, options) => {
          if (options?.slot === slot) counts.used++;
          return real.encoder.encode(as, sampleRate, samples, signal);
        },
      };
      return { counts, encoder };
    };
    const samples = async function* () {
      yield noise;
    };

    const decoder: Decoder = (encoded) => encoded;

    it("gets its samples encoded in the slot that was reserved before", async () => {
      const { counts, encoder } = counted();
      await synthesisWith(reserving(samples), { encoder, decoder })(renditionOf("Hello."), never);
      expect(counts).to.deep.equal({ reserved: 1, used: 1, released: 1 });
    });

    it("releases the slot if it fails", async () => {
      const { counts, encoder } = counted();
      const engine = reserving(samples, new EngineFailed("The tool failed."));
      await rejection(synthesisWith(engine, { encoder, decoder })(renditionOf("Hello."), never));
      expect(counts).to.deep.equal({ reserved: 1, used: 0, released: 1 });
    });
  });

  it("passes on audio that the engine has encoded itself", async () => {
    const encoded = await synthesisWith(real.engine)(renditionOf("One, two."), never);
    const { engine } = says({ kind: "encoded", format: "mp3" }, async function* () {
      yield encoded.subarray(0, 700);
      yield encoded.subarray(700);
    });
    const sound = await synthesisWith(engine)(renditionOf("Hello."), never);
    expect(sound.equals(encoded)).to.equal(true);
  });

  it("passes to the engine only what the hash covers", async () => {
    const encoded = await synthesisWith(real.engine)(renditionOf("Hello."), never);
    const { engine, seen } = says({ kind: "encoded", format: "mp3" }, async function* () {
      yield encoded;
    });
    const prosody = { pitch: 2, rate: 1.5, volume: 0.5 };
    await synthesisWith(engine)(renditionOf("Cafe\u0301", { prosody }), never);
    const { encode: _, onEncoding: __, ...covered } = seen.request ?? {};
    expect(covered).to.deep.equal({
      text: "Caf\u00e9",
      ssml: false,
      voice: "espeak:gmw/en",
      lang: "en-US",
      prosody: { pitch: 1, rate: 1.5, volume: 1 },
      format: "mp3",
    });
  });

  describe("fails as an engine failure", () => {
    it("when the engine does not exist", async () => {
      expect(await failure(undefined)).to.be.instanceOf(EngineFailed);
    });

    it("when the engine gives no audio", async () => {
      const { engine } = says({ kind: "encoded", format: "mp3" }, async function* () {});
      expect(await failure(engine)).to.be.instanceOf(EngineFailed);
    });

    it("when the engine fails midway", async () => {
      const broken = new EngineFailed("The engine broke.");
      const { engine } = says(pcm, async function* () {
        yield noise;
        throw broken;
      });
      expect(await failure(engine)).to.equal(broken);
    });

    it("when the engine's encoded audio is truncated", async () => {
      const whole = await synthesisWith(real.engine)(renditionOf("Hello, how are you?"), never);
      const { engine } = says({ kind: "encoded", format: "mp3" }, async function* () {
        yield whole.subarray(0, -50);
      });
      expect(await failure(engine)).to.be.instanceOf(EngineFailed);
    });

    it("when the engine's encoded audio cannot be read in its format", async () => {
      const { engine } = says({ kind: "encoded", format: "mp3" }, async function* () {
        yield Buffer.from("no sound at all");
      });
      expect(await failure(engine)).to.have.property("message", "The audio is not mp3.");
    });

    it("when the engine gives another format, and aborts the engine", async () => {
      const { engine, seen } = says({ kind: "encoded", format: "ogg" }, async function* () {
        yield Buffer.from("OggS");
      });
      expect(await failure(engine)).to.be.instanceOf(EngineFailed);
      expect(seen.signal?.aborted).to.equal(true);
    });

    for (const [code, error] of [
      ["g1", SpeechTooLong],
      ["gwn", EngineFailed],
    ] as const) {
      it(`when the audio exceeds the size bound, and aborts the engine: ${code}, ${error.name}`, async () => {
        let closed = false;
        const { engine } = says({ kind: "encoded", format: "mp3" }, async function* () {
          try {
            for (;;) yield noise;
          } finally {
            closed = true;
          }
        });
        expect(await failure({ ...engine, code }, { max: 1_000_000 })).to.be.instanceOf(error);
        expect(closed).to.equal(true);
      });
    }
  });

  describe("retries an interrupted synthesis", () => {
    const interruptedOnce = (engine: Engine, times: number) => {
      const counted = { ...engine, requests: 0 };
      counted.synthesize = async (request, signal) => {
        if (counted.requests++ < times) throw new Interrupted();
        return engine.synthesize(request, signal);
      };
      return counted;
    };

    it("with the same voice, for the same bytes", async () => {
      const engine = interruptedOnce(real.engine, 1);
      const made = await synthesisWith(engine)(renditionOf("Hello."), never);
      expect(made.equals(await synthesisWith(real.engine)(renditionOf("Hello."), never))).to.equal(true);
      expect(engine.requests).to.equal(2);
    });

    it("only once", async () => {
      const engine = interruptedOnce(real.engine, 2);
      expect(await failure(engine)).to.be.instanceOf(Unavailable);
      expect(engine.requests).to.equal(2);
    });

    it("when the encoder is killed", async () => {
      const engine = observed(real.engine);
      engine.onSound = () => {
        if (engine.requests.length > 1) return;
        for (const { pid, command } of childrenOf(real.helper())) {
          if (command === "ffmpeg") process.kill(pid, "SIGKILL");
        }
      };
      const story = renditionOf("A long story. ".repeat(50));
      const made = await synthesisWith(engine)(story, never);
      expect(engine.requests).to.have.length(2);
      expect(made.equals(await synthesisWith(real.engine)(story, never))).to.equal(true);
    });
  });

  it("ends with the caller's abort reason, and ends its processes", async () => {
    const engine = observed(real.engine);
    const controller = new AbortController();
    const reason = new Error("the caller left");
    engine.onSound = () => controller.abort(reason);
    const made = synthesisWith(engine)(renditionOf("A long story. ".repeat(250)), controller.signal);
    expect(await made.catch((error: unknown) => error)).to.equal(reason);
    await until(() => real.running() === 0);
  });
});
