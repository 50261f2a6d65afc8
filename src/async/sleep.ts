import { type Clock, systemClock } from "./clock.ts";

/** Resolves after `ms` milliseconds. @throws the signal's reason as soon as it is aborted */
export const sleep = (ms: number, { clock = systemClock, signal }: WaitOptions = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });

export interface WaitOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}
