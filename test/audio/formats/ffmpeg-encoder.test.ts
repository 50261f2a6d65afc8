import { expect } from "chai";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import type { Encoder } from "../../../src/audio/formats/encoder.ts";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import { fixWavSizes } from "../../../src/audio/formats/wav.ts";
import { pipelineLimits } from "../../../src/audio/pipeline/pipeline-limits.ts";
import { EngineFailed, Unavailable } from "../../../src/domain/errors.ts";
import { fixedRateFormats } from "../../../src/domain/synthesis/fixed-rate-formats.ts";
import {
  type AudioFormat,
  audioFormats,
  type FormatTraits,
  formats,
} from "../../../src/domain/synthesis/formats.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { encodeSilence } from "../../support/encode-silence.ts";
import { decodeAll } from "../../support/ffmpeg.ts";
import { childrenOf, gone, until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;
const rates = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];

/** A tone that ends loudly, so that a truncated tail is measurable. */
const tone = (sampleRate: number, seconds: number): Buffer => {
  const pcm = Buffer.alloc(2 * Math.round(sampleRate * seconds));
  for (let at = 0; at < pcm.length / 2; at++) {
    pcm.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * 440 * at) / sampleRate)), 2 * at);
  }
  return pcm;
};

async function* cut(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** An endless source of samples. */
async function* endless(): AsyncIterable<Buffer> {
  for (const second = tone(22_050, 1); ; ) yield second;
}

interface Samples {
  readonly pcm: Buffer;
  readonly sampleRate: number;
}

/**
 * The samples of audio that were encoded from tones of these sample rates, which decoders return
 * to.
 */
const samplesOf = async (
  format: AudioFormat,
  sounds: readonly { readonly rate: number; readonly bytes: Buffer }[],
): Promise<Samples[]> => {
  const { container, encoder, sampleRate }: FormatTraits = formats[format];
  // A fixed-rate WAV is decoded by ffmpeg, which also judges its header.
  if (container === "samples" || (container === "wav" && sampleRate === undefined)) {
    return sounds.map(({ rate, bytes }) => ({
      pcm: container === "wav" ? bytes.subarray(bytes.indexOf("data") + 8) : bytes,
      sampleRate: sampleRate ?? rate,
    }));
  }
  const input = container === "bytes" ? ["-f", `${encoder?.muxer}`, "-ar", `${sampleRate}`, "-ac", "1"] : [];
  const decoded = await decodeAll(
    sounds.map(({ rate, bytes }) => ({ bytes, input, output: ["-ar", String(rate)] })),
  );
  return decoded.map((pcm, index) => ({ pcm, sampleRate: sounds[index]?.rate ?? 0 }));
};
/** The number of samples that resampling to the format's own rate and back may lose. */
const resampled = (format: AudioFormat): number => {
  const { sampleRate }: FormatTraits = formats[format];
  return sampleRate === undefined ? 0 : 64;
};

/** The number of samples from the first loud one to the last: a codec's delay shifts both. */
const span = (pcm: Buffer): number => {
  const samples = Array.from({ length: pcm.length >> 1 }, (_, at) => pcm.readInt16LE(2 * at));
  const loud = (sample: number) => Math.abs(sample) > 6000;
  return samples.findLastIndex(loud) - samples.findIndex(loud);
};

describe("The ffmpeg encoder", () => {
  const host = duringSuite(() =>
    openToolHost({
      encodersAhead: ahead,
      concurrency: 4,
      speakers: 0,
    }),
  );
  let encoder: Encoder;
  const ahead = { mp3: 2, ogg: 1 };

  before(async () => {
    encoder = ffmpegEncoder(host);
    for (const format of ["mp3", "ogg"] as const) await encodeSilence(host, format);
  });

  const encode = async (format: AudioFormat, rate: number, pcm: AsyncIterable<Buffer>, signal = never) =>
    Buffer.concat(await collect(encoder.encode(format, rate, pcm, signal)));
  const waiting = () => childrenOf(host.stats().pid ?? 0);
  const prestarted = () =>
    until("none works, and as many wait as should", () => {
      return host.stats().running === 0 && waiting().length === ahead.mp3 + ahead.ogg;
    });

  it("reports the ffmpeg version that encodes", () => {
    expect(encoder.version("mp3")).to.match(/^ffmpeg \d/);
  });

  const seconds = 1.37;
  const encodings = new Map<string, Promise<Buffer>>();
  /** The tone of this sample rate in the format, encoded once. */
  const encodedTone = (format: AudioFormat, rate: number): Promise<Buffer> => {
    const key = `${format} ${rate}`;
    const encoding = encodings.get(key) ?? encode(format, rate, cut(tone(rate, seconds), 5000));
    encodings.set(key, encoding);
    return encoding;
  };

  for (const format of audioFormats) {
    it(`encodes every sample, at every sample rate: ${format}`, async () => {
      const sounds: { rate: number; bytes: Buffer }[] = [];
      for (const rate of format in fixedRateFormats ? [22_050] : rates) {
        sounds.push({ rate, bytes: await encodedTone(format, rate) });
      }
      for (const { pcm, sampleRate } of await samplesOf(format, sounds)) {
        const expected = Math.round(sampleRate * seconds);
        expect(pcm.length / 2, `${sampleRate}`).to.be.at.least(expected - resampled(format));
        // A codec adds at most its frames at both ends.
        expect(pcm.length / 2, `${sampleRate}`).to.be.below(expected + 5000);
        expect(span(pcm), `${sampleRate}`).to.be.at.least(expected - sampleRate / 100);
      }
    });

    it(`gives the same bytes for the same samples, however they are chunked: ${format}`, async () => {
      const whole = await encodedTone(format, 22_050);
      expect(whole.equals(await encode(format, 22_050, cut(tone(22_050, seconds), 999)))).to.equal(true);
    });

    it(`refuses an empty source: ${format}`, async () => {
      const nothing = [cut(Buffer.of(), 1), cut(Buffer.alloc(0), 1)];
      for (const pcm of nothing) {
        expect(await rejection(encode(format, 22_050, pcm))).to.be.instanceOf(EngineFailed);
      }
    });
  }

  // An encoder that is started ahead, none at all, and one that is started on demand.
  for (const format of ["mp3", "wav", "flac"] as const) {
    it(`gives the same bytes for one chunk and for the smallest chunks: ${format}`, async () => {
      const pcm = tone(22_050, 0.8);
      const whole = await encode(format, 22_050, cut(pcm, pcm.length));
      expect(whole.equals(await encode(format, 22_050, cut(pcm, 7)))).to.equal(true);
    });

    it(`fails with its source's error instead of ending a truncated stream normally: ${format}`, async () => {
      const broken = new EngineFailed("The engine fell over.");
      const source = async function* () {
        yield tone(22_050, 1);
        throw broken;
      };
      expect(await rejection(encode(format, 22_050, source()))).to.equal(broken);
    });
  }

  it("encodes mp3 at 64 kbit/s in one channel, without tags", async () => {
    const mp3 = await encode("mp3", 22_050, cut(tone(22_050, 4), 8192));
    expect(mp3.length / 4).to.be.closeTo(8000, 200);
    // A frame of MPEG-2 layer III, mono: no ID3, no Xing header, no comment.
    expect(mp3.readUInt16BE(0) & 0xfffe).to.equal(0xfff2);
    expect((mp3[3] ?? 0) >> 6).to.equal(3);
    expect(mp3.includes("Xing") || mp3.includes("Info") || mp3.includes("TAG")).to.equal(false);
  });

  it("writes a WAV header without a length and leaves the samples unchanged", async () => {
    const pcm = tone(24_000, 0.5);
    const wav = await encode("wav", 24_000, cut(pcm, 1001));
    expect(wav.readUInt32LE(40)).to.equal(0xffff_ffff);
    expect(fixWavSizes(wav).readUInt32LE(40)).to.equal(pcm.length);
    expect(wav.readUInt32LE(24)).to.equal(24_000);
    expect(wav.subarray(44).equals(pcm)).to.equal(true);
  });

  it("emits the first bytes before its source ends", async () => {
    const stop = new AbortController();
    const sound = encoder.encode("mp3", 22_050, endless(), stop.signal)[Symbol.asyncIterator]();
    expect((await sound.next()).value?.length).to.be.above(0);
    stop.abort(new Error("enough"));
    await rejection(
      (async () => {
        while (!(await sound.next()).done);
      })(),
    );
  });

  it("reserves an encoder for long responses in formats that have one", async () => {
    const waiter = createWaiter("a key", 400);
    const slot = await encoder.reserve("mp3", never, waiter);
    slot?.release();
    expect(slot).not.to.equal(undefined);
    expect(await encoder.reserve("wav", never, waiter)).to.equal(undefined);
  });

  it("gives an encoding a longer deadline than a synthesis", async () => {
    const deadlines: (number | undefined)[] = [];
    const recorded: SubprocessHost = {
      ...host,
      encode: (job, ...rest) => {
        deadlines.push(job.deadlineMs);
        return host.encode(job, ...rest);
      },
    };
    for (const options of [{}, { progressive: false }]) {
      const samples = cut(tone(22_050, 1), 4096);
      await collect(ffmpegEncoder(recorded).encode("mp3", 22_050, samples, never, options));
    }
    expect(deadlines[0]).to.be.above(2 * pipelineLimits.beginMs);
    expect(deadlines[1]).to.be.above(pipelineLimits.completeMs);
  });

  it("starts no encoder before the first job of its format", async () => {
    const unused = await openToolHost({ encodersAhead: ahead, speakers: 0 });
    try {
      expect(childrenOf(unused.stats().pid ?? 0)).to.deep.equal([]);
    } finally {
      await unused.close();
    }
  });

  it("uses a prestarted encoder and starts a replacement", async () => {
    await prestarted();
    const before = waiting().map(({ pid }) => pid);
    await encode("ogg", 22_050, cut(tone(22_050, 0.2), 4096));
    await prestarted();
    const after = waiting().map(({ pid }) => pid);
    expect(before.filter((pid) => after.includes(pid))).to.have.lengthOf(ahead.mp3);
  });

  it("replaces prestarted encoders that are killed, and encodes with the new ones", async () => {
    await prestarted();
    const old = waiting().map(({ pid }) => pid);
    for (const pid of old) process.kill(pid, "SIGKILL");
    await gone(...old);
    await prestarted(); // before that, a job may get an encoder whose death the helper has not noticed yet, and fail
    const sounds = await Promise.all(
      (["mp3", "ogg"] as const).map((format) => encode(format, 22_050, cut(tone(22_050, 0.2), 4096))),
    );
    for (const sound of sounds) expect(sound.length).to.be.above(1000);
    await prestarted();
  });

  it("gives the same bytes with a prestarted encoder and with one started on demand", async () => {
    const cold = await openToolHost();
    try {
      for (const format of ["mp3", "ogg"] as const) {
        const pcm = tone(16_000, 0.6);
        const [one] = await collect(ffmpegEncoder(cold).encode(format, 16_000, cut(pcm, 4096), never));
        const whole = await encode(format, 16_000, cut(pcm, 4096));
        expect(one?.equals(whole.subarray(0, one.length))).to.equal(true);
      }
    } finally {
      await cold.close();
    }
  });

  it("kills the encoder when the signal is aborted, and throws the signal's reason", async () => {
    for (const format of ["mp3", "ogg"] as const) {
      await prestarted();
      const before = waiting().map(({ pid }) => pid);
      const stop = new AbortController();
      const reason = new Error("the caller left");
      const sound = encoder.encode(format, 22_050, endless(), stop.signal)[Symbol.asyncIterator]();
      await sound.next();
      stop.abort(reason);
      const rest = async () => {
        while (!(await sound.next()).done);
      };
      expect(await rejection(rest())).to.equal(reason);
      await until("the slot is free again", () => host.stats().running === 0);
      await prestarted();
      expect(waiting().filter(({ pid }) => before.includes(pid))).to.have.lengthOf(waiting().length - 1);
    }
  });

  it("runs many encodings concurrently, within its limit, without mixing their output", async () => {
    const sounds = Array.from({ length: 12 }, (_, i) => tone(16_000, 0.2 + i / 20));
    const one = await Promise.all(sounds.map((pcm) => encode("mp3", 16_000, cut(pcm, 3000))));
    for (const [i, pcm] of sounds.entries()) {
      expect((await encode("mp3", 16_000, cut(pcm, 3000))).equals(one[i] ?? Buffer.of())).to.equal(true);
    }
    await until("every slot is free again", () => host.stats().running === 0);
  });

  it("cannot be created without ffmpeg", async () => {
    const bare = await openToolHost({ path: "/nonexistent" });
    expect(() => ffmpegEncoder(bare)).to.throw(ToolFailed, "ffmpeg is not installed.");
    await bare.close();
  });

  it("fails as unavailable after close", async () => {
    const other = await openToolHost({ encodersAhead: { mp3: 1, ogg: 0 } });
    await encodeSilence(other, "mp3");
    const closed = ffmpegEncoder(other);
    const reading = rejection(collect(closed.encode("mp3", 22_050, endless(), never)));
    await until("it encodes", () => other.stats().running === 1);
    await other.close();
    expect(await reading).to.be.instanceOf(Unavailable);
  });
});
