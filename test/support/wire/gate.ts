/** Blocks code under test until the test opens it; uses no timers. */
export interface Gate {
  /** Lets this many waiters through, present or future. Default: 1. */
  step(count?: number): void;
  /** Lets all waiters through from now on. */
  open(): void;
  /** Resolves when it may pass; rejects with the signal's reason. */
  pass(signal?: AbortSignal): Promise<void>;
  /** Resolves as soon as something waits at the gate. */
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
        if (waiting.size > 0) for (const notify of watchers) notify();
      }),
    reached: () =>
      new Promise((resolve) => {
        if (waiting.size > 0) return resolve();
        const notify = () => {
          watchers.delete(notify);
          resolve();
        };
        watchers.add(notify);
      }),
  };
};
