import { type Clock, systemClock } from "../../async/clock.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import type { UpstreamResponse } from "../provider-http/messages.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";
import { retryAfterSeconds } from "../provider-http/responses.ts";
import { pause } from "./pause.ts";

export interface RetryOptions {
  readonly clock?: Clock;
  /** 0 to 1. */
  readonly random?: () => number;
  /** Told before each. */
  readonly onRetry?: () => void;
}

const mostRetries = 2;
const firstMs = 200;
/** No retry begins later: who waits for a sound had better hear of the failure, or another voice. */
const withinMs = 5_000;

/**
 * Asks again, after a pause with full jitter or the one that the upstream asked for, where nothing can have been made by
 * the attempt before: the upstream was not reached (`connect`), or said that it would not or could not now. Never what
 * was asked and not answered: that may be made, and be paid, already. Nor what broke off within a body: an exchange ends
 * for this with the answer's head.
 */
export const withRetry = (exchange: Exchange, options: RetryOptions = {}): Exchange => {
  const { clock = systemClock, random = Math.random, onRetry } = options;
  return async (request, signal) => {
    const began = clock.now();
    for (let retries = 0; ; retries++) {
      const attempt = new AbortController();
      const outcome = await settled(exchange(request, AbortSignal.any([signal, attempt.signal])));
      const wait = retries < mostRetries ? waitAfter(outcome, retries, random) : undefined;
      if (wait === undefined || clock.now() - began + wait > withinMs) return told(outcome);
      attempt.abort(refused); // with it goes what the answer says beside
      onRetry?.();
      await pause(wait, signal, clock);
    }
  };
};

const refused = new Error("The upstream is asked again.");

type Outcome = { readonly answer: UpstreamResponse } | { readonly error: unknown };

const settled = (asked: Promise<UpstreamResponse>): Promise<Outcome> =>
  asked.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );

const told = (outcome: Outcome): UpstreamResponse => {
  if ("error" in outcome) throw outcome.error;
  return outcome.answer;
};

const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** In milliseconds; undefined where a retry is not safe. */
const waitAfter = (outcome: Outcome, retries: number, random: () => number): number | undefined => {
  const jitter = random() * firstMs * 2 ** retries;
  if ("error" in outcome) {
    const { error } = outcome;
    return error instanceof UpstreamFailed && error.stage === "connect" ? jitter : undefined;
  }
  if (!passing.has(outcome.answer.status)) return undefined;
  return (retryAfterSeconds(outcome.answer) ?? 0) * 1_000 + jitter;
};
