import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { AudioLength } from "../../../src/audio/formats/audio-length.ts";
import { fixSizes, hasDeclaredLength, measureAudio } from "../../../src/audio/formats/containers.ts";
import { fixedRateFormats } from "../../../src/domain/synthesis/fixed-rate-formats.ts";
import {
  type AudioFormat,
  audioFormats,
  type FormatTraits,
  formats,
} from "../../../src/domain/synthesis/formats.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { convertAll, decodeAll } from "../../support/ffmpeg.ts";
import { openRealTools } from "../pipeline/real-tools.ts";

const never = new AbortController().signal;

async function* samples(count: number): AsyncIterable<Buffer> {
  const pcm = Buffer.alloc(2 * count);
  for (let at = 0; at < count; at++) pcm.writeInt16LE(Math.round(8000 * Math.sin(at / 20)), 2 * at);
  yield pcm;
}

/** A two-second file encoded directly by ffmpeg, not by the service's encoder. */
const tone = (...output: string[]): Buffer => {
  const input = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=22050:duration=2"];
  return execFileSync("ffmpeg", ["-v", "error", ...input, ...output, "pipe:1"]);
};

const probedSeconds = (file: string): number =>
  Number(
    execFileSync("ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file]),
  );

/**
 * All counts at 22,050 Hz, and a short and a long one at the other rates: each encoding starts a
 * process.
 */
const lengths = (otherRates: readonly number[], counts: readonly number[]) => [
  ...counts.map((count) => ({ count, sampleRate: 22_050 })),
  ...otherRates.flatMap((sampleRate) => [
    { count: 575, sampleRate },
    { count: Math.max(...counts), sampleRate },
  ]),
];

const lengthsOf = (format: AudioFormat) => {
  // Other bit rates and sample rates of codecs whose frames the other formats test.
  if (format in fixedRateFormats) {
    return [
      { count: 575, sampleRate: 22_050 },
      { count: 40_001, sampleRate: 16_000 },
    ];
  }
  return formats[format].inV2
    ? lengths([16_000, 44_100], [1, 575, 576, 577, 5000, 160_001])
    : lengths([16_000, 24_000], [575, 2304, 5000, 160_001]);
};

/** Fails for audio that cannot be measured. */
const measured = (format: AudioFormat, bytes: Buffer): AudioLength =>
  measureAudio(format, bytes) ?? { samples: -1, sampleRate: 1 };

describe("The measured duration of an encoded file", () => {
  const real = duringSuite(openRealTools);

  const encode = async (format: AudioFormat, count: number, sampleRate: number): Promise<Buffer> =>
    Buffer.concat(await collect(real.encoder.encode(format, sampleRate, samples(count), never)));

  for (const format of audioFormats) {
    it(`is that of the samples given to the encoder: ${format}`, async () => {
      const { sampleRate: ownRate }: FormatTraits = formats[format];
      for (const { count, sampleRate } of lengthsOf(format)) {
        const sound = await encode(format, count, sampleRate);
        const length = measured(format, sound);
        const matches = (samples: number) => hasDeclaredLength(format, length, { samples, sampleRate });
        expect(matches(count), `${count} at ${sampleRate}`).to.equal(true);
        expect(matches(count + 4000), `${count} at ${sampleRate}, 4,000 dropped`).to.equal(false);
        expect(length.sampleRate).to.equal(ownRate ?? sampleRate);
        expect(measured(format, fixSizes(format, sound)), "with true sizes").to.deep.equal(length);
      }
    });
  }

  it("of a FLAC is in its header as well, after its sizes were fixed", async () => {
    const streamed = await encode("flac", 30_000, 22_050);
    expect(streamed.readUIntBE(21, 5) % 2 ** 36, "unknown").to.equal(0);
    const fixed = fixSizes("flac", streamed);
    expect(fixed.readUIntBE(21, 5) % 2 ** 36).to.equal(30_000);
    expect(fixed.length).to.equal(streamed.length);
    expect(fixSizes("flac", fixed)).to.equal(fixed);
    const [decodedBytes] = await decodeAll([{ bytes: fixed }]);
    expect(decodedBytes?.length).to.equal(60_000);
  });

  it("is compared in seconds when the encoder changed the sample rate", async () => {
    const sound = await encode("mp3", 96_000, 96_000);
    expect(measureAudio("mp3", sound)?.sampleRate).to.not.equal(96_000);
    expect(
      hasDeclaredLength("mp3", measured("mp3", sound), { samples: 96_000, sampleRate: 96_000 }),
    ).to.equal(true);
    expect(
      hasDeclaredLength("mp3", measured("mp3", sound), { samples: 120_000, sampleRate: 96_000 }),
    ).to.equal(false);
  });

  it("is measured in files of other encoders: tags, MPEG-1, Opus, stereo", () => {
    const files: readonly (readonly [AudioFormat, Buffer])[] = [
      ["mp3", tone("-f", "mp3", "-q:a", "4", "-ar", "44100", "-id3v2_version", "3", "-metadata", "title=t")],
      ["mp3", tone("-f", "mp3", "-b:a", "16k", "-ar", "11025")],
      ["ogg", tone("-f", "ogg", "-c:a", "libopus")],
      ["wav", tone("-f", "wav", "-ac", "2")],
    ];
    for (const [format, bytes] of files) {
      const length = measureAudio(format, bytes) ?? { samples: 0, sampleRate: 1 };
      expect(length.samples / length.sampleRate, format).to.be.closeTo(2, 0.2);
    }
  });

  it("matches what ffmpeg decodes and ffprobe reports, for files of many lengths", async () => {
    const folder = await mkdtemp(join(tmpdir(), "voxledger-length-"));
    const encodings: readonly (readonly [AudioFormat, number, ...string[]])[] = [
      ["mp3", 22_050, "-b:a", "64k", "-write_xing", "0"],
      ["mp3", 22_050, "-b:a", "64k"], // with delay and padding in a LAME tag
      ["mp3", 44_100, "-q:a", "4", "-ac", "2"],
      ["ogg", 22_050, "-c:a", "libvorbis"],
      ["ogg", 48_000, "-c:a", "libopus"],
      ["wav", 22_050],
      ["wav", 48_000, "-ac", "2"],
      ["flac", 44_100, "-ac", "2"],
      ["flac", 22_050, "-frame_size", "576"],
      ["opus", 48_000, "-c:a", "libopus"],
      ["aac", 44_100, "-ac", "2"],
    ];
    const sounds = [1_000, 22_050, 33_333].flatMap((count) =>
      encodings.map(([format, rate, ...options], index) => ({
        ...{ format, count, rate, options },
        file: join(folder, `${index}-${count}.${format}`),
      })),
    );
    try {
      await convertAll(
        sounds.map(({ count, rate, options, file }) => ({
          from: ["-f", "lavfi", "-i", `sine=frequency=440:sample_rate=${rate}`],
          to: ["-af", `atrim=end_sample=${count}`, ...options, file],
        })),
      );
      const made = await Promise.all(
        sounds.map(async (one) => ({ ...one, bytes: await readFile(one.file) })),
      );
      const decoded = await decodeAll(made.map(({ bytes }) => ({ bytes, output: ["-ac", "1"] })));
      for (const [index, { format, count, options, bytes, file }] of made.entries()) {
        const { samples = 0, sampleRate = 1 } = measureAudio(format, bytes) ?? {};
        const what = `${format} ${options.join(" ")}: ${count}`;
        // ffprobe includes Opus' pre-skip and the samples that the LAME tag excludes; ffmpeg
        // decodes too much of a short Vorbis file.
        if (options.includes("libvorbis") || options.includes("-write_xing")) {
          expect(samples / sampleRate, what).to.be.closeTo(probedSeconds(file), 0.001);
        } else expect(samples, what).to.equal((decoded[index]?.length ?? 0) / 2);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is undefined for data that is not audio", () => {
    for (const format of ["mp3", "ogg", "wav", "opus", "flac", "aac"] as const) {
      for (const bytes of [Buffer.of(), Buffer.from("RIFF"), Buffer.alloc(100, 7)]) {
        expect(measureAudio(format, bytes)).to.equal(undefined);
      }
    }
  });
});
