import { bytesPerSample, inWholeSamples } from "./whole-samples.ts";

/** The ends of a piece that are faded. */
export interface FadeOptions {
  readonly fadeIn: boolean;
  readonly fadeOut: boolean;
  /** The length of a fade, in samples. */
  readonly samples: number;
}

/**
 * Fades the samples in and out where they meet another piece, to avoid clicks. Keeps their number.
 * Half a sample at the end is dropped, because it would turn the next piece into noise.
 */
export async function* fade(pcm: AsyncIterable<Buffer>, options: FadeOptions): AsyncGenerator<Buffer, void> {
  const tail = options.fadeOut ? options.samples * bytesPerSample : 0;
  let held = Buffer.alloc(0);
  let at = 0;
  for await (const chunk of inWholeSamples(pcm)) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const ready = Math.max(0, bytes.length - tail);
    held = Buffer.from(bytes.subarray(ready));
    if (ready === 0) continue;
    yield options.fadeIn ? fadedIn(bytes.subarray(0, ready), at, options.samples) : bytes.subarray(0, ready);
    at += ready / bytesPerSample;
  }
  if (held.length === 0) return;
  yield fadedOut(options.fadeIn ? fadedIn(held, at, options.samples) : held, tail / bytesPerSample);
}

/** Fades in the start of a piece. `at`: the index of the first sample within the piece. */
const fadedIn = (pcm: Buffer, at: number, over: number): Buffer =>
  at >= over ? pcm : withGain(pcm, (sample) => (at + sample + 1) / (over + 1));

/** Fades out the end of a piece. A piece that is shorter than the fade fades from its start. */
const fadedOut = (pcm: Buffer, over: number): Buffer => {
  const count = pcm.length / bytesPerSample;
  return over === 0 ? pcm : withGain(pcm, (sample) => (count - sample) / (over + 1));
};

/** Copies the samples, because the buffers belong to the source. */
const withGain = (pcm: Buffer, gain: (sample: number) => number): Buffer => {
  const copy = Buffer.from(pcm);
  for (let sample = 0; sample < copy.length / bytesPerSample; sample++) {
    const factor = gain(sample);
    if (factor >= 1) continue;
    const offset = sample * bytesPerSample;
    copy.writeInt16LE(Math.round(copy.readInt16LE(offset) * factor), offset);
  }
  return copy;
};
