import { untilAborted } from "../../async/deadline.ts";

/**
 * One sound that is being synthesized, for many readers: each gets all of it from the first byte, at its own pace. The
 * source is read as far as the fastest reader needs, and a little ahead. When the last reader leaves before the end,
 * the source is aborted.
 */
export interface SharedStream {
  /** The complete sound. @throws the source's failure, or the signal's reason */
  readAll(signal: AbortSignal): Promise<Buffer>;
  /**
   * Resolves when the first bytes are available. Chunks are shared: do not modify them. @throws the source's failure,
   * or the signal's reason, also midway
   */
  read(signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

/** `Ending`: what the source returns after its last chunk. */
export interface SharedStreamOptions<Ending = unknown> {
  /** Starts the synthesis. The signal is aborted when it is over, however it ended. */
  readonly source: (signal: AbortSignal) => AsyncIterable<Buffer, Ending>;
  /**
   * Checks and completes the sound; the result is as long as `bytes`. Readers see the end only afterwards. @throws if
   * the sound is incomplete
   */
  readonly finish: (bytes: Buffer, ending: Ending) => Buffer;
  /** True to restart after this failure. Called at most once, and only before any reader has received bytes. */
  readonly mayRestart: (error: unknown) => boolean;
  /** How far the source is read beyond the fastest reader. */
  readonly readAheadBytes: number;
  /** Called once, before any reader sees the end. `failure` is undefined if the sound was completed or abandoned. */
  readonly onOver: (failure: unknown) => void;
}

const over = new Error("The synthesis has ended.");
const pieceBytes = 64 * 1024;

/** Complete bytes in chunks, so that a slow reader applies backpressure. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export const createSharedStream = <Ending>(options: SharedStreamOptions<Ending>): SharedStream => {
  const { source, finish, mayRestart, readAheadBytes, onOver } = options;
  let controller = new AbortController();
  let iterator = source(controller.signal)[Symbol.asyncIterator]();
  let chunks: Buffer[] = [];
  let size = 0;
  let finished: Buffer | undefined;
  let failure: { readonly error: unknown } | undefined;
  let pulling: Promise<void> | undefined;
  let readers = 0;
  let delivered = false;
  let restarted = false;
  let furthest = 0;
  let runningAhead = false;

  const isOver = (): boolean => finished !== undefined || failure !== undefined;

  const end = (failed?: { readonly error: unknown }): void => {
    failure = failed;
    onOver(failed?.error);
    controller.abort(over);
  };

  const restart = (): void => {
    controller.abort(over);
    restarted = true;
    chunks = [];
    size = 0;
    controller = new AbortController();
    iterator = source(controller.signal)[Symbol.asyncIterator]();
  };

  const take = async (): Promise<void> => {
    try {
      const { done, value } = await iterator.next();
      if (isOver()) return;
      if (!done) {
        chunks.push(value);
        size += value.length;
        return;
      }
      finished = finish(Buffer.concat(chunks, size), value);
      chunks = [];
      end();
    } catch (error) {
      if (isOver()) return;
      if (!delivered && !restarted && mayRestart(error)) restart();
      else end({ error });
    }
  };

  /** One read at a time, shared by all waiting readers. */
  const pull = (): Promise<void> => {
    pulling ??= take().finally(() => {
      pulling = undefined;
    });
    return pulling;
  };

  const readAhead = async (): Promise<void> => {
    if (runningAhead) return;
    runningAhead = true;
    while (!isOver() && size - furthest < readAheadBytes) await pull();
    runningAhead = false;
  };

  const join = (signal: AbortSignal): (() => void) => {
    signal.throwIfAborted();
    readers++;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      signal.removeEventListener("abort", leave);
      if (--readers > 0 || isOver()) return;
      failure = { error: signal.aborted ? signal.reason : over };
      onOver(undefined);
      controller.abort(failure.error);
    };
    signal.addEventListener("abort", leave);
    return leave;
  };

  const read = async function* (signal: AbortSignal, leave: () => void): AsyncGenerator<Buffer> {
    try {
      let sent = 0;
      for (let next = 0; !finished; ) {
        const chunk = chunks[next];
        if (chunk) {
          next++;
          sent += chunk.length;
          furthest = Math.max(furthest, sent);
          void readAhead();
          yield chunk;
        } else if (failure) throw failure.error;
        else await untilAborted(pull(), signal);
      }
      yield* inChunks(finished.subarray(sent));
    } finally {
      leave();
    }
  };

  return {
    readAll: async (signal) => {
      const leave = join(signal);
      try {
        while (!isOver()) await untilAborted(pull(), signal);
        if (finished) return finished;
        throw failure?.error;
      } finally {
        leave();
      }
    },
    read: async (signal) => {
      const leave = join(signal);
      try {
        while (size === 0 && !isOver()) await untilAborted(pull(), signal);
        if (failure && size === 0) throw failure.error;
      } catch (error) {
        leave();
        throw error;
      }
      delivered = true;
      return read(signal, leave);
    },
  };
};
