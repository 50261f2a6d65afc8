/** Lets pass while it is open, and holds while it is closed. */
export interface PauseGate {
  readonly closed: boolean;
  close(): void;
  open(): void;
  /** Resolves as soon as it is open, or the signal is raised. */
  passed(signal: AbortSignal): Promise<void>;
}

export const createPauseGate = (): PauseGate => {
  let closed = false;
  const waiting = new Set<() => void>();
  return {
    get closed() {
      return closed;
    },
    close: () => {
      closed = true;
    },
    open: () => {
      closed = false;
      for (const pass of waiting) pass();
      waiting.clear();
    },
    passed: (signal) =>
      new Promise((resolve) => {
        if (!closed || signal.aborted) return resolve();
        waiting.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
};
