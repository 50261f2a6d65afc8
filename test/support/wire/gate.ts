/** What a test holds something back with, for as long as it likes: no timers. */
export interface Gate {
  /** Lets so many through, now or as they come. Default 1. */
  step(count?: number): void;
  /** Lets everybody through from now on. */
  open(): void;
  /** Resolves with its turn; rejects with the signal's reason. */
  pass(signal?: AbortSignal): Promise<void>;
  /** Resolves as soon as somebody stands before it. */
  reached(): Promise<void>;
}

export const closedGate = (): Gate => {
  let free = 0;
  const waiting = new Set<() => void>();
  const watchers = new Set<() => void>();
  const admit = () => {
    for (const enter of waiting) {
      if (free === 0) return;
      free--;
      waiting.delete(enter);
      enter();
    }
  };

  return {
    step: (count = 1) => {
      free += count;
      admit();
    },
    open: () => {
      free = Number.POSITIVE_INFINITY;
      admit();
    },
    pass: (signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const enter = () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        const leave = () => {
          waiting.delete(enter);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", leave, { once: true });
        waiting.add(enter);
        admit();
        if (waiting.size > 0) for (const told of watchers) told();
      }),
    reached: () =>
      new Promise((resolve) => {
        if (waiting.size > 0) return resolve();
        const told = () => {
          watchers.delete(told);
          resolve();
        };
        watchers.add(told);
      }),
  };
};
