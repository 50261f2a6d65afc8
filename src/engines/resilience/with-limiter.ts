import { backgroundClock, type Clock } from "../../async/clock.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import type { Limiter } from "./limiter.ts";

export interface WithLimiterOptions {
  readonly clock?: Clock;
  /** How many may be open beside those that have a turn; of more, the one whose reader rests longest is broken off. */
  readonly maxIdle: number;
}

/** A reader that has taken nothing for so long keeps nobody waiting: the upstream has nothing to do for it either. */
const restMs = 5_000;

/**
 * Each exchange in a turn of its own, which it keeps until the answer's body is over, left or aborted, or its reader
 * rests: else a few who ask and never listen would keep all others of the website from being heard.
 * @throws {Unavailable} no turn
 */
export const withLimiter = (
  exchange: Exchange,
  turns: Limiter,
  { clock = backgroundClock, maxIdle }: WithLimiterOptions,
): Exchange => {
  /** Those that have given their turn back, by when their readers last took something. */
  const turnless = new Set<AbortController>();

  return async (request, signal) => {
    const release = await turns.acquire(signal, request);
    const own = new AbortController();
    const both = AbortSignal.any([signal, own.signal]);
    const over = () => {
      both.removeEventListener("abort", over);
      turnless.delete(own);
      release();
    };
    both.addEventListener("abort", over);
    try {
      if (!request.isContinuation) await request.beforeStart?.();
      const { status, headers, body } = await exchange(request, both);
      const onRest = () => {
        if (both.aborted) return;
        release();
        turnless.add(own);
        const [longest] = turnless;
        if (turnless.size > maxIdle) longest?.abort(restedTooLong());
      };
      const onGoingOn = () => {
        if (turnless.delete(own)) turnless.add(own);
      };
      return { status, headers, body: followed(body, { onRest, onGoingOn, over }, clock) };
    } catch (error) {
      over();
      throw error;
    }
  };
};

interface Following {
  readonly onRest: () => void;
  /** After a rest, or without one. */
  readonly onGoingOn: () => void;
  readonly over: () => void;
}

async function* followed(
  body: AsyncIterable<Buffer>,
  { onRest, onGoingOn, over }: Following,
  clock: Clock,
): AsyncGenerator<Buffer, void> {
  let stopTimer = () => {};
  try {
    for await (const piece of body) {
      stopTimer = clock.after(restMs, onRest);
      yield piece;
      stopTimer();
      onGoingOn();
    }
  } finally {
    stopTimer();
    over();
  }
}

const restedTooLong = (): EngineFailed =>
  new EngineFailed("Its listener has rested for too long, and others are to be heard.");
