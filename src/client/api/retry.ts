import { VoxledgerError } from "../errors.ts";

export interface RetryOptions {
  readonly retryAttempts: number;
  /** Rejects as soon as the signal is raised. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
}

const firstBackoffMs = 500;
const longestBackoffMs = 8_000;

/** Asked to wait longer than this, nobody is listening any more: the error is told at once. */
const longestWaitMs = 15 * 60_000;

const passing = new Set([429, 502, 503]);

/**
 * Makes the attempt, and again after what passes: as late as `Retry-After` says, or else after an exponential backoff
 * with full jitter. What is not going to change (any other status, a timeout) is told at once.
 * @throws {VoxledgerError} the last attempt's
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  { retryAttempts, sleep, random }: RetryOptions,
  signal: AbortSignal,
): Promise<T> => {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      const wait = retries < retryAttempts ? waitAfter(error, retries, random) : undefined;
      if (wait === undefined || wait > longestWaitMs) throw error;
      await sleep(wait, signal);
    }
  }
};

const waitAfter = (error: unknown, retries: number, random: () => number): number | undefined => {
  if (!(error instanceof VoxledgerError)) return undefined;
  const { status, code, retryAfterSeconds, retryable } = error;
  const passes = status === undefined ? (retryable ?? code === "NETWORK") : passing.has(status);
  if (!passes) return undefined;
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000;
  return backoffMs(retries, random);
};

/** Exponential, with full jitter. */
export const backoffMs = (retries: number, random: () => number): number =>
  random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** retries);
