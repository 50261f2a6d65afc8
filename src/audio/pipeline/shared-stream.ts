import { untilAborted } from "../../async/deadline.ts";

/**
 * One sound while it is made, for many who want it: each gets all of it from the first byte on, at its own pace, and it
 * is made once. Its source is read as the furthest of them reads, and a little ahead; what was read is kept, once for
 * all. When the last one leaves before the end, the source's signal is raised and the broadcast is over.
 */
export interface SharedStream {
  /** The finished sound. @throws the source's failure, or the signal's reason */
  readAll(signal: AbortSignal): Promise<Buffer>;
  /**
   * Resolves when the first bytes are there. The chunks are shared: not to be written to. Leaving the iteration, or the
   * signal, is leaving the broadcast.
   * @throws the source's failure, or the signal's reason; midway as well
   */
  read(signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

/** `Ending`: what the source returns after its last chunk. */
export interface SharedStreamOptions<Ending = unknown> {
  /** Begins the making. The signal is raised when it is over, however it ended. */
  readonly source: (signal: AbortSignal) => AsyncIterable<Buffer, Ending>;
  /** Checks and completes the sound; the result is as long as `bytes`. Listeners see the end only after it. @throws if the sound is not whole */
  readonly finish: (bytes: Buffer, ending: Ending) => Buffer;
  /** Whether to begin once more after this failure; asked once, and only while nobody has heard anything. */
  readonly mayRestart: (error: unknown) => boolean;
  /** How far the source is read beyond the furthest reader. */
  readonly readAheadBytes: number;
  /** Told once, before anybody hears how it ended; `failure` is undefined when it was finished or abandoned. */
  readonly onOver: (failure: unknown) => void;
}

const over = new Error("It is over: nothing of it is wanted any more.");
const pieceBytes = 64 * 1024;

/** What is there whole, in pieces, so that a slow reader holds back. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export const createSharedStream = <Ending>(options: SharedStreamOptions<Ending>): SharedStream => {
  const { source, finish, mayRestart, readAheadBytes, onOver } = options;
  let making = new AbortController();
  let reading = source(making.signal)[Symbol.asyncIterator]();
  let chunks: Buffer[] = [];
  let size = 0;
  let finished: Buffer | undefined;
  let failure: { readonly error: unknown } | undefined;
  let pulling: Promise<void> | undefined;
  let listeners = 0;
  let heard = false;
  let restarted = false;
  let furthest = 0;
  let runningAhead = false;

  const isOver = (): boolean => finished !== undefined || failure !== undefined;

  const end = (failed?: { readonly error: unknown }): void => {
    failure = failed;
    onOver(failed?.error);
    making.abort(over);
  };

  const restart = (): void => {
    making.abort(over);
    restarted = true;
    chunks = [];
    size = 0;
    making = new AbortController();
    reading = source(making.signal)[Symbol.asyncIterator]();
  };

  const take = async (): Promise<void> => {
    try {
      const { done, value } = await reading.next();
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
      if (!heard && !restarted && mayRestart(error)) restart();
      else end({ error });
    }
  };

  /** One read of the source at a time, shared by all who wait for more. */
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
    listeners++;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      signal.removeEventListener("abort", leave);
      if (--listeners > 0 || isOver()) return;
      failure = { error: signal.aborted ? signal.reason : over };
      onOver(undefined);
      making.abort(failure.error);
    };
    signal.addEventListener("abort", leave);
    return leave;
  };

  const read = async function* (signal: AbortSignal, leave: () => void): AsyncGenerator<Buffer> {
    try {
      let told = 0;
      for (let next = 0; !finished; ) {
        const chunk = chunks[next];
        if (chunk) {
          next++;
          told += chunk.length;
          furthest = Math.max(furthest, told);
          void readAhead();
          yield chunk;
        } else if (failure) throw failure.error;
        else await untilAborted(pull(), signal);
      }
      yield* inChunks(finished.subarray(told));
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
      heard = true;
      return read(signal, leave);
    },
  };
};
