import { sleep, type WaitOptions } from "./sleep.ts";

export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export interface RetryOptions<T> extends WaitOptions {
  /**
   * Returns the milliseconds to wait before the next attempt; undefined ends the retries with this
   * outcome. `attempt` is the number of the attempt that has just ended, from 1.
   */
  readonly delayAfter: (outcome: Outcome<T>, attempt: number) => number | undefined;
}

/**
 * Repeats the task as long as `delayAfter` returns a delay.
 * @throws the last attempt's error
 * @throws the signal's reason
 */
export const retry = async <T>(
  { delayAfter, ...wait }: RetryOptions<T>,
  task: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    const outcome: Outcome<T> = await task().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const delay = delayAfter(outcome, attempt);
    if (delay !== undefined) await sleep(delay, wait);
    else if ("error" in outcome) throw outcome.error;
    else return outcome.value;
  }
};

interface Backoff {
  readonly firstMs: number;
  readonly maxMs?: number;
}

/**
 * Returns a `delayAfter` that repeats a task after errors that may be transient, with growing
 * delays, until `maxAttempts` have failed.
 */
export const afterErrors =
  (
    isTransient: (error: unknown) => boolean,
    {
      maxAttempts = Number.POSITIVE_INFINITY,
      random = Math.random,
      ...backoff
    }: Backoff & { readonly maxAttempts?: number; readonly random?: () => number },
  ): RetryOptions<unknown>["delayAfter"] =>
  (outcome, attempt) =>
    "error" in outcome && attempt < maxAttempts && isTransient(outcome.error)
      ? exponentialBackoff(backoff, attempt, random)
      : undefined;

/**
 * Returns the delay after attempt `attempt` (from 1). It doubles each time, up to `maxMs`. Half of
 * it is random, so that callers that failed together do not retry together. `random` returns a
 * number from 0 to 1.
 */
export const exponentialBackoff = (
  { firstMs, maxMs = Number.POSITIVE_INFINITY }: Backoff,
  attempt: number,
  random: () => number = Math.random,
): number => Math.min(firstMs * 2 ** (attempt - 1), maxMs) * (0.5 + random() / 2);
