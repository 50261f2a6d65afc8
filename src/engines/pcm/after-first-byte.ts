import { EngineFailed } from "../../domain/errors.ts";

/**
 * Resolves when the first byte is available; until then another voice may be tried. @throws {EngineFailed} the audio
 * is empty; errors of `audio`
 */
export const afterFirstByte = async (audio: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> => {
  const rest = audio[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await rest.next();
    if (done) throw new EngineFailed("The speech provider returned no audio.");
    if (value.length > 0) return resume(value, rest);
  }
};

async function* resume(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
