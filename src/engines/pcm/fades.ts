/** s16le, mono. */
const bytesPerSample = 2;

/** Which ends of a piece meet another piece. */
export interface FadeOptions {
  readonly before: boolean;
  readonly after: boolean;
  /** How many samples the sound takes to rise or fall there. */
  readonly samples: number;
}

/**
 * The samples, rising from and falling to silence where they meet another piece, so that no joint is heard as a click.
 * As many as there were, in whole samples: half a one at the very end is dropped, or all that follows would be noise.
 */
export async function* fade(pcm: AsyncIterable<Buffer>, joints: FadeOptions): AsyncGenerator<Buffer, void> {
  const tail = joints.after ? joints.samples * bytesPerSample : 0;
  let held = Buffer.alloc(0);
  let at = 0;
  for await (const chunk of pcm) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const ready = whole(Math.max(0, bytes.length - tail));
    held = Buffer.from(bytes.subarray(ready));
    if (ready === 0) continue;
    yield joints.before ? risen(bytes.subarray(0, ready), at, joints.samples) : bytes.subarray(0, ready);
    at += ready / bytesPerSample;
  }
  if (whole(held.length) === 0) return;
  const end = held.subarray(0, whole(held.length));
  yield fallen(joints.before ? risen(end, at, joints.samples) : end, tail / bytesPerSample);
}

const whole = (bytes: number): number => bytes - (bytes % bytesPerSample);

/** `at`: the number of its first sample in the piece. */
const risen = (pcm: Buffer, at: number, over: number): Buffer =>
  at >= over ? pcm : shaped(pcm, (sample) => (at + sample + 1) / (over + 1));

/** The end of the piece; a piece shorter than that falls from its beginning. */
const fallen = (pcm: Buffer, over: number): Buffer => {
  const count = pcm.length / bytesPerSample;
  return over === 0 ? pcm : shaped(pcm, (sample) => (count - sample) / (over + 1));
};

/** A copy: the bytes are whoever's they came from. Beyond a gain of 1 nothing is changed. */
const shaped = (pcm: Buffer, gain: (sample: number) => number): Buffer => {
  const copy = Buffer.from(pcm);
  for (let sample = 0; sample < copy.length / bytesPerSample; sample++) {
    const factor = gain(sample);
    if (factor >= 1) continue;
    const offset = sample * bytesPerSample;
    copy.writeInt16LE(Math.round(copy.readInt16LE(offset) * factor), offset);
  }
  return copy;
};
