import { EngineFailed } from "../domain/errors.ts";

/** s16le, mono. */
export interface Samples {
  readonly sampleRate: number;
  readonly pcm: AsyncIterable<Buffer>;
}

/** Tools write the canonical header; the sizes in it are not true when it is written before the samples are known. */
const headerBytes = 44;

/**
 * The samples of a WAV, as soon as one of them is not silent.
 * @throws {EngineFailed} when it is no WAV; `silence()` when all are silent; what `wav` throws
 */
export const samplesOf = async (wav: AsyncIterable<Buffer>, silence: () => Error): Promise<Samples> => {
  const rest = wav[Symbol.asyncIterator]();
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
  if (begun.toString("latin1", 0, 4) !== "RIFF") throw new EngineFailed("The speech tool gave no WAV.");
  return {
    sampleRate: begun.readUInt32LE(24),
    pcm: (async function* () {
      yield begun.subarray(headerBytes);
      yield* { [Symbol.asyncIterator]: () => rest };
    })(),
  };
};

/** Each sample times the gain; the rounding is the same wherever the chunks are cut. */
export async function* scaled(pcm: AsyncIterable<Buffer>, gain: number): AsyncIterable<Buffer> {
  let carried = Buffer.alloc(0);
  for await (const chunk of pcm) {
    const bytes = carried.length > 0 ? Buffer.concat([carried, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % 2);
    const louder = Buffer.allocUnsafe(whole);
    for (let at = 0; at < whole; at += 2) {
      louder.writeInt16LE(Math.round(bytes.readInt16LE(at) * gain), at);
    }
    carried = Buffer.from(bytes.subarray(whole));
    yield louder;
  }
}
