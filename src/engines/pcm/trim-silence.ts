/** Longest silence at each end, in samples; undefined: not trimmed. */
export interface SilenceLimits {
  readonly leading?: number | undefined;
  readonly trailing?: number | undefined;
  /** Samples up to this amplitude are silent. */
  readonly silence: number;
  /** Called with each number of samples that are dropped from the start. */
  readonly onDropped?: (samples: number) => void;
}

/** s16le, mono. */
const bytesPerSample = 2;

/**
 * Shortens the silence at both ends. Tools begin and end every text with a pause, which is natural after a sentence
 * but not within one. Half a sample at the end is dropped.
 */
export async function* trimSilence(
  pcm: AsyncIterable<Buffer>,
  { leading, trailing, silence, onDropped }: SilenceLimits,
): AsyncGenerator<Buffer, void> {
  let held: Buffer = Buffer.alloc(0);
  let heard = leading === undefined;
  for await (const chunk of pcm) {
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (!heard) {
      const first = firstLoud(bytes, silence);
      const from = Math.max(0, (first ?? wholeSamples(bytes)) - (leading ?? 0));
      if (from > 0) onDropped?.(from);
      bytes = bytes.subarray(from * bytesPerSample);
      heard = first !== undefined;
    }
    const ready = heard ? readyBytes(bytes, trailing, silence) : 0;
    held = Buffer.from(bytes.subarray(ready));
    if (ready > 0) yield bytes.subarray(0, ready);
  }
  const rest = Math.min(wholeSamples(held), trailing ?? Number.POSITIVE_INFINITY) * bytesPerSample;
  if (rest > 0) yield held.subarray(0, rest);
}

const wholeSamples = (bytes: Buffer): number => Math.floor(bytes.length / bytesPerSample);

/** Bytes before a silence that may be the last one. */
const readyBytes = (bytes: Buffer, trailing: number | undefined, silence: number): number => {
  let end = wholeSamples(bytes);
  if (trailing === undefined) return end * bytesPerSample;
  while (end > 0 && Math.abs(bytes.readInt16LE((end - 1) * bytesPerSample)) <= silence) end--;
  return end * bytesPerSample;
};

const firstLoud = (bytes: Buffer, silence: number): number | undefined => {
  for (let at = 0; at < wholeSamples(bytes); at++) {
    if (Math.abs(bytes.readInt16LE(at * bytesPerSample)) > silence) return at;
  }
  return undefined;
};
