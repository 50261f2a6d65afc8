/** What is used of the client's streams. */
export interface Source {
  on(event: string, listener: (value: unknown) => void): unknown;
  read(): unknown;
  readonly readableLength: number;
}

export interface PausedReader<T> {
  /** What is there, at most so many. */
  take(most: number): T[];
  /**
   * Waits until there may be more, for so long at most. `poke` and the signal end it early.
   * @throws what the stream failed with, once all that came before it is taken
   */
  more(patienceMs?: number): Promise<"more" | "late" | "ended">;
  poke(): void;
  /** Lets go of the signal. Nobody may wait any more. */
  close(): void;
}

/**
 * Reads one of the client's streams at the reader's own pace. The stream's errors may come before, between and after what it
 * brings, so they are listened to from its first moment to its last.
 */
export const createPausedReader = <T>(stream: Source, signal?: AbortSignal): PausedReader<T> => {
  let failure: { readonly error: unknown } | undefined;
  let ended = false;
  let wake = (): void => {};
  /** Something has happened since the last look; the stream's end shows only to whoever looks again. */
  let stirred = false;

  const stir = (): void => {
    stirred = true;
    wake();
  };

  const listen = (event: string, note: (value: unknown) => void): void => {
    stream.on(event, (value) => {
      note(value);
      stir();
    });
  };
  const noteEnd = (): void => {
    ended = true;
  };
  listen("error", (error) => {
    failure ??= { error };
  });
  listen("end", noteEnd);
  listen("close", noteEnd);
  listen("readable", () => {});
  signal?.addEventListener("abort", stir, { once: true });

  /** False when the time was up first. */
  const woken = (patienceMs: number | undefined): Promise<boolean> =>
    new Promise((resolve) => {
      const timer =
        patienceMs === undefined ? undefined : setTimeout(() => resolve(false), Math.max(1, patienceMs));
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });

  return {
    take: (most) => {
      stirred = false;
      const taken: T[] = [];
      while (taken.length < most) {
        const one = stream.read() as T | null;
        if (one === null) break;
        taken.push(one);
      }
      return taken;
    },
    more: async (patienceMs) => {
      const mayWait = !stirred && stream.readableLength === 0 && !failure && !ended && !signal?.aborted;
      const inTime = !mayWait || (await woken(patienceMs));
      if (stream.readableLength > 0 || signal?.aborted) return "more";
      if (failure) throw failure.error;
      if (ended) return "ended";
      return inTime ? "more" : "late";
    },
    poke: stir,
    close: () => signal?.removeEventListener("abort", stir),
  };
};
