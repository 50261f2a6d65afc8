import { VoxledgerError } from "../errors.ts";

export interface RetryOptions {
  readonly retryAttempts: number;
  /** Rejects when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1. */
  readonly random: () => number;
  readonly isOffline?: () => boolean;
  /** A longer `Retry-After` is not waited for: the error is thrown at once. Default: 15 minutes. */
  readonly maxDelayMs?: number | undefined;
}

const baseDelayMs = 500;
const maxBackoffMs = 8_000;
const longestDelayMs = 15 * 60_000;

const transientStatuses = new Set([429, 502, 503]);

/**
 * Retries transient failures after the delay of `Retry-After`, or else after exponential backoff
 * with full jitter. All other failures are thrown at once: timeouts too, and those of a browser
 * without a network if `maxDelayMs` says that the caller has something better to do.
 * @throws {VoxledgerError} which is the error of the last attempt
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  { retryAttempts, sleep, random, isOffline, maxDelayMs }: RetryOptions,
  signal: AbortSignal,
): Promise<T> => {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (retries >= retryAttempts || !isTransient(error)) throw error;
      if (maxDelayMs !== undefined && isOffline?.()) throw error;
      const delayMs = retryDelayMs(error, retries, random);
      if (delayMs > (maxDelayMs ?? longestDelayMs)) throw error;
      await sleep(delayMs, signal);
    }
  }
};

const isTransient = (error: unknown): error is VoxledgerError => {
  if (!(error instanceof VoxledgerError)) return false;
  const { status, code, retryable } = error;
  return status === undefined ? (retryable ?? code === "NETWORK") : transientStatuses.has(status);
};

/** `Retry-After`, or else exponential backoff with full jitter. */
export const retryDelayMs = (
  { retryAfterSeconds }: VoxledgerError,
  retries: number,
  random: () => number,
): number =>
  retryAfterSeconds === undefined
    ? random() * Math.min(maxBackoffMs, baseDelayMs * 2 ** retries)
    : retryAfterSeconds * 1_000;
