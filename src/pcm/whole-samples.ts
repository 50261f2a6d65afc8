/** The size of a sample: samples are s16le, mono. */
export const bytesPerSample = 2;

/**
 * Yields the same samples in chunks that are not empty and contain only whole samples. Half a
 * sample at the end is dropped.
 */
export const inWholeSamples = (pcm: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> =>
  inFrames(pcm, bytesPerSample);

/**
 * Like `inWholeSamples`, but for frames of another size: of several channels, or of another width.
 */
export async function* inFrames(
  pcm: AsyncIterable<Buffer>,
  frameBytes: number,
): AsyncGenerator<Buffer, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of pcm) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % frameBytes);
    rest = Buffer.from(bytes.subarray(end));
    if (end > 0) yield bytes.subarray(0, end);
  }
}
