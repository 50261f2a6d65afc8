/** The part of Node.js's `Readable` that the client's streams offer. */
export interface Source {
  on(event: string, listener: (value: unknown) => void): unknown;
  read(): unknown;
  readonly readableLength: number;
}

export interface PausedReader<T> {
  /** The items that are buffered, at most `max`. */
  read(max: number): T[];
  /**
   * Waits until items may be available, the stream has ended, or the time is up. `wake` and the
   * signal end the wait.
   * @throws the stream's error, once all items before it are read
   */
  wait(timeoutMs?: number): Promise<"readable" | "ended" | "timeout">;
  wake(): void;
  /** Stops listening to the signal. */
  close(): void;
}

/**
 * Reads one of the client's streams in paused mode. The streams emit errors before, between and
 * after their items: a listener must be there from the start, or the error is an uncaught
 * exception.
 */
export const createPausedReader = <T>(stream: Source, signal?: AbortSignal): PausedReader<T> => {
  let failure: { readonly error: unknown } | undefined;
  let hasEnded = false;
  /**
   * True if an event was emitted since the last read. A stream emits `end` only after another read.
   */
  let hasChanged = false;
  let notify = (): void => {};

  const wake = (): void => {
    hasChanged = true;
    notify();
  };
  stream.on("readable", wake);
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  stream.on("error", fail);
  // If the client itself cancels the call, for example when it is replaced, it ends the stream and
  // reports no error (db-client 6.2.1).
  stream.on("pipe", (call) => (call as Source).on("error", fail));
  for (const event of ["end", "close"]) {
    stream.on(event, () => {
      hasEnded = true;
      wake();
    });
  }
  signal?.addEventListener("abort", wake, { once: true });

  /**
   * Resolves with false if the time is up. The timer waits for `setImmediate`, so that items that
   * arrived while the process was suspended are read first.
   */
  const nextChange = (timeoutMs: number | undefined): Promise<boolean> =>
    new Promise((resolve) => {
      const expire = () => setImmediate(() => resolve(false));
      const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.max(1, timeoutMs));
      notify = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });

  return {
    read: (max) => {
      hasChanged = false;
      return readItems(stream, max);
    },
    wait: async (timeoutMs) => {
      const mustWait =
        !hasChanged && stream.readableLength === 0 && !failure && !hasEnded && !signal?.aborted;
      const isInTime = !mustWait || (await nextChange(timeoutMs));
      if (stream.readableLength > 0 || signal?.aborted) return "readable";
      if (failure) throw failure.error;
      if (hasEnded) return "ended";
      return isInTime ? "readable" : "timeout";
    },
    wake,
    close: () => signal?.removeEventListener("abort", wake),
  };
};

const readItems = <T>(stream: Source, max: number): T[] => {
  const items: T[] = [];
  while (items.length < max) {
    const item = stream.read() as T | null;
    if (item === null) break;
    items.push(item);
  }
  return items;
};
