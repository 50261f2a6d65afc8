import { invalidResponse } from "../provider-http/responses.ts";

/** True for the sizes that writers use while the length is unknown. */
export const isUnknownSize = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

const largestChunk = 64 * 1024;

/**
 * Reads the samples of a WAV (s16le, mono, of that rate) without its header and other chunks. @throws {UpstreamFailed}
 * another kind of WAV, not a WAV, or truncated; errors of `wav`
 */
export async function* wavSamples(
  wav: AsyncIterable<Buffer>,
  sampleRate: number,
): AsyncGenerator<Buffer, void> {
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
  try {
    let left = await readHeader(take, sampleRate);
    for (;;) {
      const samples = held.subarray(0, left);
      left -= samples.length;
      if (samples.length > 0) yield samples;
      if (left === 0) return;
      const { value, done } = await source.next();
      if (done && left === Number.POSITIVE_INFINITY) return;
      if (done) throw invalidResponse("its WAV is truncated");
      held = value;
    }
  } finally {
    await source.return?.();
  }
}

/** Bytes of samples that follow; infinite if unknown. */
const readHeader = async (take: (size: number) => Promise<Buffer>, sampleRate: number): Promise<number> => {
  const riff = await take(12);
  if (riff.toString("latin1", 0, 4) !== "RIFF" || riff.toString("latin1", 8) !== "WAVE") {
    throw invalidResponse("it is not a WAV");
  }
  for (let known = false; ; ) {
    const head = await take(8);
    const name = head.toString("latin1", 0, 4);
    const size = head.readUInt32LE(4);
    if (name === "data") {
      if (!known) throw invalidResponse("its WAV has no format chunk");
      return isUnknownSize(size) ? Number.POSITIVE_INFINITY : size;
    }
    if (size > largestChunk) throw invalidResponse("its WAV has no samples");
    const content = await take(size + (size % 2));
    if (name !== "fmt ") continue;
    if (!isPlain(content, sampleRate)) throw invalidResponse(`its WAV is not 16 bit, mono, ${sampleRate} Hz`);
    known = true;
  }
};

/** PCM, also in the extensible form. */
const isPlain = (fmt: Buffer, sampleRate: number): boolean =>
  fmt.length >= 16 &&
  [0x0001, 0xfffe].includes(fmt.readUInt16LE(0)) &&
  fmt.readUInt16LE(2) === 1 &&
  fmt.readUInt32LE(4) === sampleRate &&
  fmt.readUInt16LE(14) === 16;
