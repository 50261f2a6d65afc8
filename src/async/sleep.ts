import { systemTime, type Time } from "./time.ts";

/**
 * Resolves after `ms` milliseconds.
 * @throws the signal's reason as soon as it is aborted
 */
export const sleep = (ms: number, { time = systemTime, signal }: WaitOptions = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = time.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });

export interface WaitOptions {
  readonly time?: Time;
  readonly signal?: AbortSignal | undefined;
}
