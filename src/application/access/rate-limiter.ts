import { type Rate, ratePartition, requestsOnOtherInstances } from "../../../projections/rate.ts";
import type { View } from "../../../projections/runner/runner.ts";
import { untilAborted } from "../../async/deadline.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import { RateLimited } from "../../domain/errors.ts";
import { minuteOf, rateRetentionSeconds, rateStream, reportRequests } from "../../domain/usage/rate.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import { createBurstLimiter } from "./burst-limiter.ts";
import { clientNetwork } from "./client-network.ts";

/** The result of a rate limit check. */
export interface Admission {
  /** The key's requests per minute. */
  readonly limit: number;
  /** Requests left in this minute. */
  readonly remaining: number;
  /** Set when the request is over a limit. */
  readonly refusal?: RateLimited;
}

/** Counts requests in fixed minutes (UTC), in memory, and reports the counts to the other instances shortly after. */
export interface RateLimiter {
  admit(apiKey: string, plan: Plan, client: string): Admission;
  /** Reports the counts that changed since the last report. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly store: Pick<EventStore, "append" | "setRetention">;
  readonly view: View<Rate>;
  /** The unique id of this process. */
  readonly instance: string;
  readonly clock: () => number;
  /** Milliseconds that never go back, for the burst check. Default `performance.now`. */
  readonly uptime?: () => number;
  /** The sliding window of the burst check. Default 1,000. */
  readonly burstWindowMs?: number;
  /** Default: a twentieth of the requests per minute, at least 20. */
  readonly burstLimit?: number | undefined;
  /** The reporting interval. Default 100. */
  readonly flushMs?: number;
  /** The deadline of a report. Default 5,000. */
  readonly deadlineMs?: number;
  /** Called at the first of consecutive failed reports. */
  readonly onError?: (what: string, error: unknown) => void;
}

interface Counter {
  minute: number;
  count: number;
  reported: number;
}

export const createRateLimiter = ({
  store,
  view,
  instance,
  clock,
  uptime,
  burstWindowMs = 1_000,
  burstLimit,
  flushMs = 100,
  deadlineMs = 5_000,
  onError = () => {},
}: RateLimiterOptions): RateLimiter => {
  const bursts = createBurstLimiter(burstWindowMs, uptime);
  const burstOver = Math.ceil(bursts.recoveryMs / 1_000);
  const counters = new Map<string, Counter>();
  const stream = rateStream(instance);
  let isTrimmed = false;
  let isFailing = false;
  let flushing: Promise<void> | undefined;

  const counterOf = (apiKey: string, minute: number): Counter => {
    const known = counters.get(apiKey);
    if (known?.minute === minute) return known;
    const fresh = { minute, count: 0, reported: 0 };
    counters.set(apiKey, fresh);
    return fresh;
  };

  /** The counters that changed in this minute. Deletes those of past minutes. */
  const changedIn = (minute: number): [apiKey: string, Counter, count: number][] => {
    const changed: [string, Counter, number][] = [];
    for (const [apiKey, counter] of counters) {
      if (counter.minute < minute) counters.delete(apiKey);
      else if (counter.minute === minute && counter.count > counter.reported)
        changed.push([apiKey, counter, counter.count]);
    }
    return changed;
  };

  /** Only this instance writes to the stream, and reports are independent: no expected revision is needed. */
  const append = async (minute: number, counts: readonly [string, number][]): Promise<void> => {
    const now = clock();
    const metadata = { actor: "system" };
    for (const report of reportRequests(minute, counts, new Date(now).toISOString())) {
      await store.append(stream, [{ id: uuidv7(now), metadata, ...report }], "any");
    }
    if (isTrimmed) return;
    await store.setRetention(stream, { maxAgeSeconds: rateRetentionSeconds });
    isTrimmed = true;
  };

  /** A failed report is repeated by the next flush within the same minute. */
  const flush = async (): Promise<void> => {
    const minute = minuteOf(clock());
    const changed = changedIn(minute);
    if (changed.length === 0) return;
    try {
      const counts = changed.map(([apiKey, , count]): [string, number] => [apiKey, count]);
      await untilAborted(append(minute, counts), AbortSignal.timeout(deadlineMs));
      for (const [, counter, count] of changed) counter.reported = count;
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError("requests counted here cannot be reported to the other instances", error);
      isFailing = true;
    }
  };

  const flushOnce = (): Promise<void> => {
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };

  const timer = setInterval(() => void flushOnce(), flushMs).unref();

  return {
    admit: (apiKey, plan, client) => {
      const now = clock();
      const minute = minuteOf(now);
      const counter = counterOf(apiKey, minute);
      const limit = plan.requestsPerMinute;
      const elsewhere = requestsOnOtherInstances(view.get(ratePartition), stream, minute, apiKey);
      const left = Math.max(0, limit - counter.count - elsewhere);
      // Checked before the burst: after a burst's Retry-After, the request would be refused again.
      if (left === 0) return { limit, remaining: 0, refusal: minuteExceeded(secondsLeft(now)) };
      const burst = burstLimit ?? Math.max(20, Math.floor(limit / 20));
      if (!bursts.tryAcquire(`${apiKey} ${clientNetwork(client)}`, burst)) {
        return { limit, remaining: left, refusal: burstExceeded(burstOver) };
      }
      counter.count += 1;
      return { limit, remaining: left - 1 };
    },
    flush: flushOnce,
    close: async () => {
      clearInterval(timer);
      await flushing;
      await flushOnce();
    },
  };
};

const secondsLeft = (now: number): number => Math.max(1, Math.ceil(60 - ((now / 1_000) % 60)));

const minuteExceeded = (retryAfterSeconds: number): RateLimited =>
  new RateLimited("The key has no requests left in this minute.", "minute", retryAfterSeconds);

const burstExceeded = (retryAfterSeconds: number): RateLimited =>
  new RateLimited("Too many requests at once from this key and address.", "burst", retryAfterSeconds);
