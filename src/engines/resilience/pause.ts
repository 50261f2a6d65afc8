import type { Clock } from "../../async/clock.ts";

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
export const pause = (ms: number, signal: AbortSignal, clock: Clock): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const leave = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", leave);
      resolve();
    });
    signal.addEventListener("abort", leave, { once: true });
  });
