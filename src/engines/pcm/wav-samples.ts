import { invalidResponse } from "../provider-http/responses.ts";

/** Whether a chunk's size is one that a writer puts there while it does not know how much is to come. */
export const isUnknownSize = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

const largestChunk = 64 * 1024;

/**
 * The samples of a WAV (s16le, mono, of that rate) as they come, without its header and whatever other chunks it has,
 * however the bytes are cut.
 * @throws {UpstreamFailed} it is another WAV or none, or it stops before its end; what `wav` throws
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
      if (done) throw invalidResponse("its WAV stops before its end");
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
      if (done) throw invalidResponse("its WAV stops before its end");
      held = value;
    }
  } finally {
    await source.return?.();
  }
}

/** The bytes of samples that follow; infinitely many when the writer did not know. */
const readHeader = async (take: (size: number) => Promise<Buffer>, sampleRate: number): Promise<number> => {
  const riff = await take(12);
  if (riff.toString("latin1", 0, 4) !== "RIFF" || riff.toString("latin1", 8) !== "WAVE") {
    throw invalidResponse("it is no WAV");
  }
  for (let known = false; ; ) {
    const head = await take(8);
    const name = head.toString("latin1", 0, 4);
    const size = head.readUInt32LE(4);
    if (name === "data") {
      if (!known) throw invalidResponse("its WAV does not say what it holds");
      return isUnknownSize(size) ? Number.POSITIVE_INFINITY : size;
    }
    if (size > largestChunk) throw invalidResponse("its WAV has no samples");
    const content = await take(size + (size % 2));
    if (name !== "fmt ") continue;
    if (!isPlain(content, sampleRate)) throw invalidResponse(`its WAV is not 16 bit, mono, ${sampleRate} Hz`);
    known = true;
  }
};

/** PCM, or the extensible form that only adds to it. */
const isPlain = (fmt: Buffer, sampleRate: number): boolean =>
  fmt.length >= 16 &&
  [0x0001, 0xfffe].includes(fmt.readUInt16LE(0)) &&
  fmt.readUInt16LE(2) === 1 &&
  fmt.readUInt32LE(4) === sampleRate &&
  fmt.readUInt16LE(14) === 16;
