import type { Scheduler } from "../../async/scheduler/scheduler.ts";
import { createWaiter } from "../../async/scheduler/waiter.ts";
import { tap } from "../../async/tap.ts";
import { backgroundTime, type Time } from "../../async/time.ts";
import { ReadersStalled } from "../../domain/errors.ts";
import { queues } from "../../limits/queues.ts";
import type { Exchange, UpstreamRequest } from "../provider-http/exchange.ts";
import { createStartLimit } from "./start-limit.ts";

export type Limiter = ReturnType<typeof createLimiter>;

export interface LimiterOptions {
  readonly concurrency: number;
  /** Requests that may begin within any 60 seconds. */
  readonly perMinute: number;
  /**
   * The number of concurrent requests that only keys with little work may use. It is for a server
   * that many keys share. Default: 0.
   */
  readonly reserved?: number;
}

/** Limits the requests of one provider client. `name`: the name of the resource. */
export const createLimiter = (
  scheduler: Scheduler,
  name: string,
  { concurrency, perMinute, reserved = 0 }: LimiterOptions,
  time: Time = backgroundTime,
) => {
  const resource = scheduler.resource(name, {
    ...queues.provider({ concurrency, reserved }),
    startLimit: createStartLimit(perMinute, concurrency, time),
    time,
  });
  return {
    /**
     * Resolves when the request has a slot, with a function that releases the slot. Continuations
     * of audio that is already being delivered wait without a timeout: they cannot be repeated
     * later, and there is at most one per synthesis.
     * @throws {Unavailable} if the queue is full, or no slot is free in time
     * @throws the signal's reason
     */
    acquire: (
      signal: AbortSignal,
      { waiter = createWaiter(), isContinuation, seconds }: Partial<UpstreamRequest> = {},
    ): Promise<() => void> => resource.acquire(waiter, signal, { isContinuation, seconds }),
    running: () => resource.running(),
    queued: () => resource.queued(),
  };
};

interface WithLimiterOptions {
  readonly time?: Time;
  /**
   * The number of responses that may stay open without a slot. If there are more, the one that has
   * been idle longest is aborted.
   */
  readonly maxIdle: number;
}

/** A response whose reader has taken nothing for this long gives its slot back. */
const idleMs = 5_000;

/**
 * Each request holds a slot until its response is read completely, closed early or aborted, or its
 * reader is idle. If idle readers kept their slots, a few clients that never read would block all
 * others of the website.
 * @throws {Unavailable} if there is no slot
 */
export const withLimiter = (
  exchange: Exchange,
  limiter: Pick<Limiter, "acquire">,
  { time = backgroundTime, maxIdle }: WithLimiterOptions,
): Exchange => {
  /** Open responses without a slot, the longest idle first. */
  const idle = new Set<AbortController>();

  return async (request, signal) => {
    const release = await limiter.acquire(signal, request);
    const own = new AbortController();
    const either = AbortSignal.any([signal, own.signal]);
    let stopTimer = () => {};
    const close = () => {
      stopTimer();
      either.removeEventListener("abort", close);
      idle.delete(own);
      release();
    };
    const onIdle = () => {
      if (either.aborted) return;
      release();
      idle.add(own);
      const [longest] = idle;
      if (idle.size > maxIdle) longest?.abort(new ReadersStalled());
    };
    const onChunk = () => {
      stopTimer = time.after(idleMs, onIdle);
    };
    const onResume = () => {
      stopTimer();
      if (idle.delete(own)) idle.add(own);
    };
    either.addEventListener("abort", close);
    try {
      if (!request.isContinuation) await request.beforeStart?.();
      const { status, headers, body } = await exchange(request, either);
      return { status, headers, body: tap(body, { onChunk, onResume, onClose: close }) };
    } catch (error) {
      close();
      throw error;
    }
  };
};
