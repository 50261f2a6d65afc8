import { type Outcome, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import type { Exchange, UpstreamResponse } from "../provider-http/exchange.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";
import { retryAfterSeconds } from "../provider-http/responses.ts";

export interface RetryOptions {
  readonly time?: Time;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
  /** Called before each further attempt. */
  readonly onRetry?: () => void;
}

const maxRetries = 2;
const firstMs = 200;
/** No attempt begins later than this after the first. */
const withinMs = 5_000;

/**
 * Repeats a request after a delay with full jitter, or after the provider's `Retry-After`. Repeats
 * it only if the previous attempt cannot have been processed and billed, because the provider was
 * not reached (`connect`), or refused with one of the `transient` statuses. A body that fails
 * midway is not retried.
 */
export const withRetry =
  (exchange: Exchange, { time = systemTime, random = Math.random, onRetry }: RetryOptions = {}): Exchange =>
  async (request, signal) => {
    const startedAt = time.now();
    let attemptController: AbortController;
    const attempt = () => {
      attemptController = new AbortController();
      return exchange(request, AbortSignal.any([signal, attemptController.signal]));
    };
    const delayAfter = (outcome: Outcome<UpstreamResponse>, attempts: number): number | undefined => {
      const delay = attempts <= maxRetries ? retryDelay(outcome, attempts, random) : undefined;
      if (delay === undefined || time.now() - startedAt + delay > withinMs) return undefined;
      attemptController.abort(repeated); // ends the connection of the refusal
      onRetry?.();
      return delay;
    };
    return await retry({ time, signal, delayAfter }, attempt);
  };

const repeated = new Error("The request is repeated.");

const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns milliseconds; undefined if a retry is not safe. */
const retryDelay = (
  outcome: Outcome<UpstreamResponse>,
  attempts: number,
  random: () => number,
): number | undefined => {
  const jitter = random() * firstMs * 2 ** (attempts - 1);
  if ("error" in outcome) {
    const { error } = outcome;
    return error instanceof UpstreamFailed && error.stage === "connect" ? jitter : undefined;
  }
  if (!transient.has(outcome.value.status)) return undefined;
  return (retryAfterSeconds(outcome.value) ?? 0) * 1_000 + jitter;
};
