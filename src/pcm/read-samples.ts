import { isUnknownSize } from "../domain/synthesis/wav-header.ts";
import { bytesPerSample, inWholeSamples } from "./whole-samples.ts";

/** Samples in s16le, mono. */
export interface Samples {
  readonly sampleRate: number;
  readonly pcm: AsyncIterable<Buffer>;
}

/** The length of the canonical header, which tools write. */
const headerBytes = 44;

interface Failures {
  /** Returns the error if all samples are silent. */
  readonly silence: () => Error;
  readonly invalid: (message: string) => Error;
}

/**
 * Reads the samples of a WAV. Resolves when the first sample that is not silent has been read.
 * @throws `invalid()` if the bytes are no WAV, or (also midway) if the number of samples is not the
 * one that the header declares
 * @throws `silence()` if all samples are silent
 * @throws the errors of `wav`
 */
export const readSamples = async (
  wav: AsyncIterable<Buffer>,
  { silence, invalid }: Failures,
): Promise<Samples> => {
  const rest = checkLength(wav, invalid)[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let size = 0;
  for (let heard = false; !heard; ) {
    const { value, done } = await rest.next();
    if (done) throw silence();
    heard = value.subarray(Math.max(0, headerBytes - size)).some((byte) => byte !== 0);
    held.push(value);
    size += value.length;
  }
  const begun = Buffer.concat(held);
  return {
    sampleRate: begun.readUInt32LE(24),
    pcm: (async function* () {
      yield begun.subarray(headerBytes);
      yield* { [Symbol.asyncIterator]: () => rest };
    })(),
  };
};

/** Compares the length with the header, because flite exits with 0 even if the disk was full. */
async function* checkLength(
  wav: AsyncIterable<Buffer>,
  invalid: Failures["invalid"],
): AsyncGenerator<Buffer, void> {
  let header = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of wav) {
    if (size < headerBytes) header = Buffer.concat([header, chunk.subarray(0, headerBytes - size)]);
    size += chunk.length;
    yield chunk;
  }
  if (header.toString("latin1", 0, 4) !== "RIFF") throw invalid("The speech tool returned no WAV.");
  const declared = size < headerBytes ? Number.NaN : header.readUInt32LE(40);
  if (isUnknownSize(declared) || declared === size - headerBytes) return;
  throw invalid("The speech tool's output does not have the length in its header.");
}

/**
 * Multiplies each sample by `gain`, and clips it at the largest value. The result does not depend
 * on the chunks.
 */
export async function* scale(pcm: AsyncIterable<Buffer>, gain: number): AsyncIterable<Buffer> {
  for await (const chunk of inWholeSamples(pcm)) yield scaled(chunk, gain);
}

/**
 * This is most of the helper's work for a text. So it is a function of its own, and uses no
 * `Math.round`, which takes four times as long.
 */
const scaled = (chunk: Buffer, gain: number): Buffer => {
  // The view has the byte order of the processor: little-endian on x86-64 and ARM.
  const samples = new Int16Array(chunk.length / bytesPerSample);
  const louder = Buffer.from(samples.buffer);
  chunk.copy(louder);
  for (let at = 0; at < samples.length; at++) {
    const sample = Math.floor((samples[at] ?? 0) * gain + 0.5);
    samples[at] = sample > 32_767 ? 32_767 : sample < -32_768 ? -32_768 : sample;
  }
  return louder;
};
