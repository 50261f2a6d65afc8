import { cosineOfTurns, sineOfTurns } from "../domain/elementary.ts";
import { bytesPerSample, inWholeSamples } from "./whole-samples.ts";

/**
 * The number of the filter's zero crossings on either side of a sample. In speech, more would make
 * no audible difference.
 */
const reach = 16;

/**
 * Changes the sample rate of s16le mono samples, by a sinc filter with a Hann window below half the
 * lower rate. The bytes do not depend on the chunks.
 */
export async function* resample(
  pcm: AsyncIterable<Buffer>,
  from: number,
  to: number,
): AsyncGenerator<Buffer, void> {
  if (from === to) return yield* pcm;
  const [step, phases] = [from / greatestDivisor(from, to), to / greatestDivisor(from, to)];
  const { taps, weights } = filter(Math.min(1, to / from), phases);
  /** The samples from number `start` on. Silence precedes the first sample. */
  let held = new Float64Array(taps);
  let start = -taps;
  let made = 0;
  const baseOf = (output: number): number => Math.floor((output * step) / phases);
  const makeUntil = (count: number): Buffer => {
    const out = Buffer.alloc(Math.max(0, count - made) * bytesPerSample);
    for (let at = 0; made < count; at += bytesPerSample, made++) {
      const first = baseOf(made) - taps + 1 - start;
      const row = ((made * step) % phases) * 2 * taps;
      let sum = 0;
      for (let tap = 0; tap < 2 * taps; tap++) sum += (held[first + tap] ?? 0) * (weights[row + tap] ?? 0);
      out.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sum))), at);
    }
    const unused = baseOf(made) - taps + 1 - start;
    held = held.slice(unused);
    start += unused;
    return out;
  };
  let length = 0;
  for await (const chunk of inBlocks(inWholeSamples(pcm))) {
    const before = held;
    const added = chunk.length / bytesPerSample;
    held = new Float64Array(before.length + added);
    held.set(before);
    for (let at = 0; at < added; at++) held[before.length + at] = chunk.readInt16LE(at * bytesPerSample);
    length += added;
    const out = makeUntil(Math.max(made, Math.floor(((length - taps) * phases) / step)));
    if (out.length > 0) yield out;
  }
  const rest = makeUntil(Math.round((length * phases) / step));
  if (rest.length > 0) yield rest;
}

/**
 * The least size of the chunks that are resampled. Each one costs a copy of the samples within the
 * filter's reach, and a provider may send chunks of two bytes.
 */
const blockBytes = 4_096;

async function* inBlocks(pcm: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of pcm) {
    held.push(chunk);
    size += chunk.length;
    if (size < blockBytes) continue;
    yield Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}

/**
 * Computes the weights of the input samples around an output sample, for each phase that an output
 * sample can have between two input samples.
 */
const filter = (cutoff: number, phases: number) => {
  const taps = Math.ceil(reach / cutoff);
  const weights = Float64Array.from({ length: phases * 2 * taps }, (_, index) => {
    const [phase, tap] = [Math.floor(index / (2 * taps)), index % (2 * taps)];
    const distance = tap - taps + 1 - phase / phases;
    const window = (1 + cosineOfTurns(distance / (2 * taps))) / 2;
    const angle = Math.PI * distance * cutoff;
    return (angle === 0 ? 1 : sineOfTurns((distance * cutoff) / 2) / angle) * cutoff * window;
  });
  return { taps, weights };
};

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
