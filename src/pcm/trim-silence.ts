import { bytesPerSample, inWholeSamples } from "./whole-samples.ts";

/** The longest silence at each end, in samples. An end whose limit is undefined is not trimmed. */
export interface SilenceLimits {
  readonly leading?: number | undefined;
  readonly trailing?: number | undefined;
  /** Samples up to this amplitude are silent. */
  readonly silence: number;
  /** Called with each number of samples that are dropped from the start. */
  readonly onDropped?: (samples: number) => void;
}

/**
 * Shortens the silence at both ends. Tools begin and end every text with a pause, which is natural
 * after a sentence but not within one. Half a sample at the end is dropped. Each chunk is searched
 * once, however long the silence is.
 */
export async function* trimSilence(
  pcm: AsyncIterable<Buffer>,
  { leading, trailing, silence, onDropped = () => {} }: SilenceLimits,
): AsyncGenerator<Buffer, void> {
  /** Before the speech begins, the leading silence; later, silence that may be the trailing one. */
  const held = new HeldSamples();
  let hasBegun = leading === undefined;
  for await (const chunk of inWholeSamples(pcm)) {
    const loud = trailing === undefined && hasBegun ? length(chunk) : afterLastLoud(chunk, silence);
    held.add(chunk);
    if (!hasBegun) {
      const silent = loud > 0 ? held.samples - length(chunk) + firstLoud(chunk, silence) : held.samples;
      const dropped = Math.max(0, silent - (leading ?? 0));
      held.take(dropped);
      if (dropped > 0) onDropped(dropped);
    }
    hasBegun ||= loud > 0;
    if (loud > 0) yield held.take(held.samples - (trailing === undefined ? 0 : length(chunk) - loud));
  }
  const rest = held.take(Math.min(held.samples, trailing ?? Number.POSITIVE_INFINITY));
  if (rest.length > 0) yield rest;
}

const length = (chunk: Buffer): number => chunk.length / bytesPerSample;

const isLoud = (chunk: Buffer, at: number, silence: number): boolean =>
  Math.abs(chunk.readInt16LE(at * bytesPerSample)) > silence;

const firstLoud = (chunk: Buffer, silence: number): number => {
  let at = 0;
  while (at < length(chunk) && !isLoud(chunk, at, silence)) at++;
  return at;
};

/** Finds the end of the last sample that is not silent; 0 if all samples are silent. */
const afterLastLoud = (chunk: Buffer, silence: number): number => {
  let end = length(chunk);
  while (end > 0 && !isLoud(chunk, end - 1, silence)) end--;
  return end;
};

/** A queue of chunks, in samples. */
class HeldSamples {
  #chunks: Buffer[] = [];
  #samples = 0;

  get samples(): number {
    return this.#samples;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#samples += length(chunk);
  }

  /** Removes this many samples from the front, and joins them. */
  take(samples: number): Buffer {
    const taken: Buffer[] = [];
    let missing = samples;
    let chunk = this.#chunks[0];
    while (chunk && missing >= length(chunk)) {
      taken.push(chunk);
      missing -= length(chunk);
      chunk = this.#chunks[taken.length];
    }
    this.#chunks.splice(0, taken.length);
    if (chunk && missing > 0) {
      taken.push(chunk.subarray(0, missing * bytesPerSample));
      this.#chunks[0] = chunk.subarray(missing * bytesPerSample);
    }
    this.#samples -= samples;
    return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken);
  }
}
