import { EngineFailed } from "../../domain/errors.ts";

/**
 * Resolves when that many bytes have been received. `beginning` is shorter only if the stream is.
 * `audio` is the stream from its beginning; `close` ends it unread.
 * @throws errors of the stream
 */
export const peek = async (stream: AsyncIterable<Buffer>, bytes: number) => {
  const rest = stream[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let size = 0;
  while (size < bytes) {
    const { value, done } = await rest.next();
    if (done) break;
    held.push(value);
    size += value.length;
  }
  const beginning = Buffer.concat(held, size);
  const close = async (): Promise<void> => {
    await rest.return?.();
  };
  const audio = async function* (): AsyncGenerator<Buffer, void> {
    try {
      yield beginning;
      yield* { [Symbol.asyncIterator]: () => rest };
    } finally {
      await close();
    }
  };
  return { beginning, audio: audio(), close };
};

/**
 * Resolves when the first byte is available; until then another voice may be tried.
 * @throws {EngineFailed} if the audio is empty
 * @throws the errors of the stream
 */
export const afterFirstByte = async (stream: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> => {
  const { beginning, audio } = await peek(stream, 1);
  if (beginning.length === 0) throw new EngineFailed("The speech provider returned no audio.");
  return audio;
};
