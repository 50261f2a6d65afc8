import { isUnknownSize } from "../../domain/synthesis/wav-header.ts";
import type { Samples } from "../../pcm/read-samples.ts";
import { bytesPerSample, inFrames } from "../../pcm/whole-samples.ts";
import { invalidAudio, invalidResponse } from "./responses.ts";

const largestChunk = 64 * 1024;
const maxChannels = 16;
const sampleRates = { min: 4_000, max: 384_000 };

/**
 * Reads a WAV of integers (8, 16, 24, 32 bit) or floats (32, 64 bit) of any rate, with any number
 * of channels, which are averaged. Other chunks are skipped. Resolves when the header has been
 * read.
 * @throws {EngineFailed} if it is no WAV or another kind of WAV
 * @throws {UpstreamFailed} if it is truncated
 * @throws the errors of `wav`
 */
export const readWav = async (wav: AsyncIterable<Buffer>): Promise<Samples> => {
  const source = wav[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const take = async (size: number): Promise<Buffer> => {
    while (held.length < size) {
      const { value, done } = await source.next();
      if (done) throw invalidResponse("its WAV is truncated");
      held = held.length === 0 ? value : Buffer.concat([held, value]);
    }
    const taken = held.subarray(0, size);
    held = held.subarray(size);
    return taken;
  };
  const data = async function* (size: number): AsyncGenerator<Buffer, void> {
    let left = size;
    try {
      for (;;) {
        const bytes = held.subarray(0, left);
        left -= bytes.length;
        if (bytes.length > 0) yield bytes;
        if (left === 0) return;
        const { value, done } = await source.next();
        if (done && left === Number.POSITIVE_INFINITY) return;
        if (done) throw invalidResponse("its WAV is truncated");
        held = value;
      }
    } finally {
      await source.return?.();
    }
  };
  try {
    const { format, size } = await readHeader(take);
    return { sampleRate: format.sampleRate, pcm: mono(data(size), format) };
  } catch (error) {
    await source.return?.();
    throw error;
  }
};

/** `size`: bytes of samples that follow; infinite if unknown. */
const readHeader = async (
  take: (size: number) => Promise<Buffer>,
): Promise<{ format: SampleFormat; size: number }> => {
  const riff = await take(12);
  if (!isWav(riff)) throw invalidAudio("it is not a WAV");
  for (let format: SampleFormat | undefined; ; ) {
    const head = await take(8);
    const name = head.toString("latin1", 0, 4);
    const size = head.readUInt32LE(4);
    if (name === "data") {
      if (!format) throw invalidAudio("its WAV has no format chunk");
      return { format, size: isUnknownSize(size) ? Number.POSITIVE_INFINITY : size };
    }
    if (size > largestChunk) throw invalidAudio("its WAV has no samples");
    const content = await take(size + (size % 2));
    if (name === "fmt ") format = formatOf(content);
  }
};

/** RF64 is the form for more than 4 GB, whose header has unknown sizes. */
export const isWav = (beginning: Buffer): boolean =>
  /^(?:RIFF|RF64)$/.test(beginning.toString("latin1", 0, 4)) &&
  beginning.toString("latin1", 8, 12) === "WAVE";

interface SampleFormat {
  readonly sampleRate: number;
  readonly channels: number;
  /** The bytes of a sample of one channel. */
  readonly bytes: number;
  readonly read: ReadSample;
  /** True if nothing has to be converted. */
  readonly isMono16: boolean;
}

/** The sample at this offset, in the range of 16 bits. */
type ReadSample = (samples: Buffer, at: number) => number;

const integer = 1;
const float = 3;
const extensible = 0xfffe;

/** Readers by the format's tag and the bytes of a sample. */
const readers: Readonly<Record<number, Readonly<Record<number, ReadSample>>>> = {
  [integer]: {
    1: (samples, at) => ((samples[at] ?? 0) - 128) * 256,
    2: (samples, at) => samples.readInt16LE(at),
    3: (samples, at) => samples.readIntLE(at, 3) / 256,
    4: (samples, at) => samples.readInt32LE(at) / 65_536,
  },
  [float]: {
    4: (samples, at) => samples.readFloatLE(at) * 32_768,
    8: (samples, at) => samples.readDoubleLE(at) * 32_768,
  },
};

const formatOf = (fmt: Buffer): SampleFormat => {
  if (fmt.length < 16) throw invalidAudio("its WAV has no format chunk");
  const [tag, channels, sampleRate] = [fmt.readUInt16LE(0), fmt.readUInt16LE(2), fmt.readUInt32LE(4)];
  // The extensible form has the tag at the start of a GUID.
  const kind = tag === extensible && fmt.length >= 26 ? fmt.readUInt16LE(24) : tag;
  return sampleFormat({ kind, sampleRate, channels, bytes: fmt.readUInt16LE(12) / channels });
};

const sampleFormat = (given: { kind: number } & Pick<SampleFormat, "sampleRate" | "channels" | "bytes">) => {
  const { kind, sampleRate, channels, bytes } = given;
  const read = readers[kind]?.[bytes];
  const isKnownRate = sampleRate >= sampleRates.min && sampleRate <= sampleRates.max;
  if (!read || !isKnownRate || channels < 1 || channels > maxChannels) {
    const described = `format ${kind}, ${8 * bytes} bit, ${channels} channels, ${sampleRate} Hz`;
    throw invalidAudio(`its samples are not supported (${described})`);
  }
  const isMono16 = kind === integer && bytes === 2 && channels === 1;
  return { sampleRate, channels, bytes, read, isMono16 };
};

/**
 * Combines the channels of raw s16le samples into one.
 * @throws {EngineFailed} if there are too many channels, or the rate is impossible
 */
export const monoSamples = (
  data: AsyncIterable<Buffer>,
  { sampleRate, channels }: Pick<SampleFormat, "sampleRate" | "channels">,
): AsyncIterable<Buffer> => mono(data, sampleFormat({ kind: integer, sampleRate, channels, bytes: 2 }));

/** Converts the samples to s16le in one channel: the average of the channels. */
const mono = (data: AsyncIterable<Buffer>, { isMono16, ...format }: SampleFormat): AsyncIterable<Buffer> =>
  isMono16 ? data : converted(data, format);

async function* converted(
  data: AsyncIterable<Buffer>,
  { read, channels, bytes }: Pick<SampleFormat, "channels" | "bytes" | "read">,
): AsyncGenerator<Buffer, void> {
  const frameBytes = channels * bytes;
  for await (const frames of inFrames(data, frameBytes)) {
    const samples = Buffer.allocUnsafe((frames.length / frameBytes) * bytesPerSample);
    for (let from = 0, to = 0; from < frames.length; from += frameBytes, to += bytesPerSample) {
      let sum = 0;
      for (let channel = 0; channel < channels; channel++) sum += read(frames, from + channel * bytes);
      samples.writeInt16LE(within16Bits(sum / channels), to);
    }
    yield samples;
  }
}

/** A float may be beyond the range, or not a number. */
const within16Bits = (sample: number): number => Math.max(-32_768, Math.min(32_767, Math.round(sample))) || 0;
