import { EngineFailed } from "../../domain/errors.ts";

/**
 * The sound, as soon as its first byte is there: what has none has not begun, and may still be asked of another voice.
 * @throws {EngineFailed} it ended without a byte; what `audio` throws
 */
export const afterFirstByte = async (audio: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> => {
  const rest = audio[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await rest.next();
    if (done) throw new EngineFailed("The speech provider gave no sound.");
    if (value.length > 0) return from(value, rest);
  }
};

async function* from(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
