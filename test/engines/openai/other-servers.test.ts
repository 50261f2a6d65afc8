import { randomBytes } from "node:crypto";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ffmpegDecoder } from "../../../src/audio/formats/ffmpeg-decoder.ts";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import { createRenderer } from "../../../src/audio/pipeline/renderer.ts";
import { EngineFailed } from "../../../src/domain/errors.ts";
import type { AudioFormat } from "../../../src/domain/synthesis/formats.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import { upstreamDeadlines } from "../../../src/engines/provider-http/connection.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { convertAll, decodeAll } from "../../support/ffmpeg.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { openToolHost } from "../../support/tool-host.ts";
import type { WireResponse } from "../../support/wire/faults.ts";
import { closedGate } from "../../support/wire/gate.ts";
import { makeSound } from "../../support/wire/made-sound.ts";
import { openAiApiKey, serveOpenAi } from "../../support/wire/openai.ts";
import { makeWav, otherServers } from "../../support/wire/other-servers.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

const never = new AbortController().signal;
const short = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";
/** Two pieces: a request has at most 2,000 bytes, which characters without width fill. */
const long = `${short} ${"\u200b".repeat(640)} And then it sleeps until the next morning, and the fox comes back.`;
/** Audio is compared in telephone quality, in which the search for their delay is short. */
const comparedRate = 8_000;
/** What the server is asked for. */
const requested: Partial<Record<AudioFormat, string>> = { mp3: "mp3", ogg: "opus", wav: "wav" };
/** The formats that the service encodes itself, from samples. Their encoders take turns. */
const madeHere: readonly AudioFormat[] = ["pcm", "opus", "flac"];
const exactFormats: readonly AudioFormat[] = ["wav", "pcm", "flac"];

const exchange = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
const engineAt = (url: string, by = exchange): Engine =>
  openAiProvider({ baseUrl: url, operators: by, websites: by }).open({ apiKey: openAiApiKey }).engine;

/**
 * What an encoder adds to a piece: a delay of at most 1,105 samples at 24 kHz (LAME's), and the
 * rest of a frame of at most 1,024 (AAC's).
 */
const encoderSeconds = (1_105 + 1_024) / 24_000;
/** The rounding of a piece's number of samples changes its length by this at most. */
const roundedSeconds = 0.001;

/** The samples of the speech, as the stand-in makes them. */
const expectedSamples = async (text: string): Promise<Buffer> =>
  makeSound({ text, voice: "gmw/en-US+f1", format: { kind: "pcm", sampleRate: comparedRate } });

/**
 * The highest correlation of a quarter of a second of the one with the other, which may be delayed
 * or early.
 */
const likeness = (expected: Buffer, actual: Buffer, fromSeconds: number, delaySeconds: number): number => {
  const at = Math.round(fromSeconds * comparedRate);
  const [window, reach] = [comparedRate / 4, Math.ceil(delaySeconds * comparedRate)];
  const value = (samples: Buffer, index: number): number =>
    2 * index + 1 < samples.length && index >= 0 ? samples.readInt16LE(2 * index) : 0;
  const one = Float64Array.from({ length: window }, (_, index) => value(expected, at + index));
  const other = Float64Array.from({ length: window + 2 * reach }, (_, index) =>
    value(actual, at - reach + index),
  );
  let best = -1;
  for (let lag = 0; lag <= 2 * reach; lag++) {
    let [product, power, otherPower] = [0, 0, 0];
    for (let index = 0; index < window; index++) {
      const [sample = 0, compared = 0] = [one[index], other[lag + index]];
      product += sample * compared;
      power += sample * sample;
      otherPower += compared * compared;
    }
    best = Math.max(best, product / Math.sqrt(power * otherPower || 1));
  }
  return best;
};

describe("A server with OpenAI's API that sends other audio than requested", () => {
  const host = duringSuite(openToolHost);

  const render = async (url: string, text: string, format: AudioFormat): Promise<Buffer> => {
    const renderer = createRenderer({
      engines: () => engineAt(url),
      encoder: ffmpegEncoder(host),
      decoder: ffmpegDecoder(host),
      maxAudioBytes: 64 << 20,
    });
    const { recipe } = renditionOf(text, { engine: "oai", voice: "alloy", format });
    const chunks = renderer.render({ recipe, ssml: false }, { progressive: false }, never);
    const bytes: Buffer[] = [];
    for (;;) {
      const { value, done } = await chunks.next();
      if (done) return renderer.finish(format, Buffer.concat(bytes), value).bytes;
      bytes.push(value);
    }
  };

  for (const [index, { name, speak, isExact }] of otherServers.entries()) {
    describe(name, () => {
      let server: WireServer;
      before(async () => {
        server = await serveOpenAi({ speak });
      });
      after(() => server.close());

      const isHeard = async (text: string, asked: readonly AudioFormat[]): Promise<void> => {
        const before = server.requests.length;
        const sounds = await Promise.all(asked.map((format) => render(server.url, text, format)));
        const requests = server.requests.slice(before).map(({ body }) => JSON.parse(String(body)).input);
        const spoken = [...new Set<string>(requests)];
        expect(spoken.join("")).to.equal(text);
        const expected = Buffer.concat(await Promise.all(spoken.map(expectedSamples)));
        const decoded = await decodeAll(
          sounds.map((bytes, at) => ({
            bytes,
            output: ["-ar", String(comparedRate), "-ac", "1"],
            ...(asked[at] === "pcm" && { input: ["-f", "s16le", "-ar", "24000", "-ac", "1"] }),
          })),
        );
        const seconds = expected.length / 2 / comparedRate;
        for (const [at, samples] of decoded.entries()) {
          const format = asked[at] ?? "pcm";
          const isExactResponse = isExact(spoken.length > 1 ? "pcm" : (requested[format] ?? "pcm"));
          const isExactHere = exactFormats.includes(format);
          const encodings = (isExactResponse ? 0 : spoken.length) + (isExactHere ? 0 : 1);
          const tolerance = roundedSeconds * spoken.length + encoderSeconds * encodings;
          expect(samples.length / 2 / comparedRate, format).to.be.closeTo(seconds, tolerance);
          for (const from of [0.5, seconds - 1.5]) {
            const found = likeness(expected, samples, from, tolerance);
            // After a joint the samples of both rates lie between each other.
            const isSame = encodings === 0 && (from === 0.5 || spoken.length === 1);
            expect(found, `${format} at ${from} s`).to.be.above(isSame ? 0.999 : 0.9);
          }
        }
      };
      const [one = "pcm", other = "pcm"] = [0, 1].map((more) => madeHere[(index + more) % 3]);

      it(`is heard the same: a short text as mp3, ogg, wav and ${one}`, () =>
        isHeard(short, ["mp3", "ogg", "wav", one]));

      it(`is heard the same: a long text as ${other}`, () => isHeard(long, [other]));
    });
  }

  describe("with wrong audio", () => {
    let server: WireServer;
    beforeEach(async () => {
      server = await serveOpenAi();
    });
    afterEach(() => server.close());

    const sends = (body: Buffer, type: string): void => {
      const response: WireResponse = { status: 200, headers: { "Content-Type": type }, body };
      server.faults.always({ kind: "answer", response });
    };
    const garbage = Buffer.alloc(20_000, "no audio at all. ");

    for (const [what, body, type] of [
      ["unknown bytes", garbage, "audio/mpeg"],
      ["bytes without a content type", garbage, ""],
      ["text without a content type", Buffer.alloc(20_000, "This is a text in English, and longer. "), ""],
      ["an MP4", Buffer.concat([Buffer.from("\0\0\0\x20ftypM4A "), Buffer.alloc(20_000)]), "audio/mpeg"],
      ["random bytes", randomBytes(20_000), "application/octet-stream"],
      ["an MP3 that is none", Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\0"), garbage]), "audio/mpeg"],
      ["a FLAC that is none", Buffer.concat([Buffer.from("fLaC"), garbage]), "audio/flac"],
      ["an Ogg that is none", Buffer.concat([Buffer.from("OggS"), garbage]), "audio/ogg"],
      ["a WAV without samples", makeWav(Buffer.alloc(0), { sampleRate: 24_000 }), "audio/wav"],
      [
        "a WAV of an unknown encoding",
        Buffer.concat([
          Buffer.from(
            "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x55\0\x01\0\xc0\x5d\0\0\xc0\x5d\0\0\x01\0\x08\0data\0\0\0\0",
            "latin1",
          ),
          garbage,
        ]),
        "audio/wav",
      ],
      ["nothing", Buffer.alloc(0), "audio/wav"],
    ] as const) {
      it(`fails with a message, and does not count against the circuit breaker: ${what}`, async () => {
        sends(body, type);
        for (const format of ["pcm", "opus"] as const) {
          const failure = await rejection(render(server.url, short, format));
          expect(failure, format).to.be.instanceOf(EngineFailed).and.not.to.be.instanceOf(UpstreamFailed);
          expect((failure as EngineFailed).message).to.match(
            /^The (?:response of the |audio of the )?speech provider /,
          );
        }
        await server.idle();
      });
    }

    it("closes the response when the audio is refused", async () => {
      const endless = await serveOpenAi({
        speak: async () => ({ status: 200, headers: { "Content-Type": "audio/mpeg" }, body: garbage }),
      });
      const gate = closedGate();
      gate.step(1);
      endless.faults.next({ kind: "trickle", gate });
      await rejection(render(endless.url, short, "opus"));
      await endless.idle();
      expect(endless.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      await endless.close();
    });
  });

  const sending = (kind: "mp3" | "wav" | "flac") =>
    serveOpenAi({
      speak: async ({ voice }) => ({
        status: 200,
        headers: { "Content-Type": "audio/mpeg" },
        body: await makeSound({ text: short, voice, format: { kind, sampleRate: 24_000 } }),
      }),
    });
  it("fails soon if its audio is longer than the text could be: half an hour of silence in a few kilobytes", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "voxledger-silence-"));
    const file = join(folder.path, "silence.flac");
    const from = ["-f", "lavfi", "-t", "1800", "-i", "anullsrc=r=24000:cl=mono"];
    await convertAll([{ from, to: [file] }]);
    const body = await readFile(file);
    expect(body.length).to.be.below(500_000);
    const server = await serveOpenAi({
      speak: async () => ({ status: 200, headers: { "Content-Type": "audio/flac" }, body }),
    });
    const failure = await rejection(render(server.url, short, "pcm"));
    expect(failure).to.be.instanceOf(EngineFailed).and.not.to.be.instanceOf(UpstreamFailed);
    await server.close();
  });

  const request = (format: AudioFormat): SpeechRequest => ({
    ...{ text: short, ssml: false, voice: "alloy", lang: "en-US", prosody: normalProsody, format },
    decode: ffmpegDecoder(host),
  });

  for (const kind of ["mp3", "wav"] as const) {
    it(`is heard before its response has ended: ${kind} instead of samples`, async () => {
      const server = await sending(kind);
      const gate = closedGate();
      server.faults.next({ kind: "trickle", gate });
      const speaking = engineAt(server.url).synthesize(request("pcm"), never);
      await gate.reached();
      gate.step(2);
      const listening = (await speaking).audio[Symbol.asyncIterator]();
      expect((await listening.next()).value.length).to.be.above(0);
      expect(server.requests[0]).to.include({ outcome: "active" });
      gate.open();
      while (!(await listening.next()).done);
      await server.close();
    });
  }

  const sine = Buffer.alloc(24_000 * 2 * 5);
  for (let at = 0; at < sine.length; at += 2) sine.writeInt16LE(Math.round(30_000 * Math.cos(at / 40)), at);
  for (const [what, samples, type] of [
    ["are loud from the start, without a content type", sine, ""],
    [
      "begin like a frame of AAC, and are declared",
      Buffer.concat([Buffer.from("fff1", "hex"), sine]),
      "audio/pcm",
    ],
    ["begin like a frame of MP3", Buffer.concat([Buffer.from("fff3", "hex"), sine]), "audio/mpeg"],
  ] as const) {
    it(`sends samples that ${what}`, async () => {
      const body = samples.subarray(0, samples.length - (samples.length % 2));
      const headers = { "Content-Type": type };
      const server = await serveOpenAi({ speak: async () => ({ status: 200, headers, body }) });
      const { audio } = await engineAt(server.url).synthesize(request("pcm"), never);
      expect(Buffer.concat(await collect(audio)).equals(body)).to.equal(true);
      await server.close();
    });
  }

  it("sends its own container as it is, if it is the requested one", async () => {
    const server = await serveOpenAi();
    const sound = await render(server.url, short, "mp3");
    const voice = "gmw/en-US+f1";
    const format = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 } as const;
    expect(sound.equals(await makeSound({ text: short, voice, format }))).to.equal(true);
    await server.close();
  });

  it("may stop sending in the middle of audio that is being decoded", async () => {
    const server = await sending("flac");
    server.faults.next({ kind: "cut" });
    expect(await rejection(render(server.url, short, "mp3"))).to.be.instanceOf(UpstreamFailed);
    await server.close();
  });

  it("has a deadline in the middle of audio that is being decoded, which ends the decoder", async () => {
    const server = await sending("flac");
    const gate = closedGate();
    server.faults.next({ kind: "trickle", gate });
    const time = createManualTime();
    const paced = createExchange({ guard: createSsrfGuard({ by: "operator" }), time });
    gate.step(4);
    const failing = rejection(
      engineAt(server.url, paced)
        .synthesize(request("mp3"), never)
        .then(({ audio }) => collect(audio)),
    );
    await gate.reached();
    const advancing = setInterval(() => time.advance(upstreamDeadlines.firstByteMs), 20);
    expect(await failing).to.be.instanceOf(UpstreamFailed);
    clearInterval(advancing);
    while (host.stats().running > 0) await host.ping(); // until its process has exited
    gate.open();
    await server.close();
  });

  it("stops its decoder when the caller leaves", async () => {
    const server = await sending("flac");
    const leaving = new AbortController();
    const { audio } = await engineAt(server.url).synthesize(request("mp3"), leaving.signal);
    const listening = audio[Symbol.asyncIterator]();
    await listening.next();
    expect(host.stats().running).to.equal(1);
    const reason = new Error("the caller left");
    leaving.abort(reason);
    expect(await rejection(collect({ [Symbol.asyncIterator]: () => listening }))).to.equal(reason);
    await server.idle();
    await server.close();
  });
});
