/** s16le, mono. */
export const bytesPerSample = 2;

/** The same samples in chunks of whole ones, none of them empty; half a sample at the end is dropped. */
export async function* inWholeSamples(pcm: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let half: Buffer = Buffer.alloc(0);
  for await (const chunk of pcm) {
    const bytes = half.length === 0 ? chunk : Buffer.concat([half, chunk]);
    const end = bytes.length - (bytes.length % bytesPerSample);
    half = Buffer.from(bytes.subarray(end));
    if (end > 0) yield bytes.subarray(0, end);
  }
}
