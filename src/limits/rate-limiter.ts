import { type Rate, ratePartition, requestsOnOtherInstances } from "../../projections/rate.ts";
import type { View } from "../../projections/runner/view.ts";
import type { Time } from "../async/time.ts";
import { findKeyNumber, PerKey } from "../domain/accounts/key-numbers.ts";
import type { Plan } from "../domain/accounts/plan.ts";
import { minuteOf, rateStream } from "../domain/ledger/rate.ts";
import type { EpochMs } from "../domain/time.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { type BurstLimiter, type BurstWindow, createBurstLimiter } from "./burst-limiter.ts";
import { clientNetwork } from "./client-network.ts";
import { burstExceeded, limits, minuteExceeded, type RateLimited } from "./limits.ts";
import { RateReports, type ReportedCounter } from "./rate-reports.ts";
import { type OpenShares, wholeLimit } from "./shares.ts";

/** The result of counting a request. */
export interface RateLimitResult {
  /** The key's requests per minute. */
  readonly limit: number;
  /** Requests left in this minute. */
  readonly remaining: number;
  /** Set if the request exceeds a limit. */
  readonly refusal?: RateLimited;
}

export interface LimitedKey {
  readonly apiKey: string;
  /** The result of `keyNumberOf`. */
  readonly keyNumber: number;
  readonly plan: Plan;
}

/**
 * Counts requests in fixed minutes (UTC), in memory, and reports the counts to the other instances
 * shortly after.
 */
export interface RateLimiter {
  admit(key: LimitedKey, client: string): RateLimitResult;
  /** Reports the counts that changed since the last report. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly store: Pick<EventStore, "append" | "setRetention">;
  readonly view: View<Rate>;
  readonly instance: string;
  readonly clock: () => EpochMs;
  /** Measures the window of the burst check. */
  readonly time?: Pick<Time, "now"> | undefined;
  /** The sliding window of the burst check, in milliseconds. Default: 1,000. */
  readonly burstWindowMs?: number;
  /** The maximum number of requests in a burst. The default depends on the plan. */
  readonly burstLimit?: number | undefined;
  /** The interval of reports, in milliseconds. Default: 100. */
  readonly flushMs?: number;
  /** The deadline of a report, in milliseconds. Default: 5,000. */
  readonly deadlineMs?: number;
  /** Called at the first of consecutive failed reports. */
  readonly onError?: (what: string, error: unknown) => void;
  /** Opens the shares of both limits. Default: this process has the whole limits. */
  readonly openShares?: OpenShares;
}

/**
 * Includes the burst window of the key's first client, because most keys have one client. Windows
 * of other clients are looked up.
 */
interface Counter extends ReportedCounter, BurstWindow {
  /** The latest address of that client. */
  client: string;
  readonly network: string;
}

export const createRateLimiter = ({
  store,
  view,
  instance,
  clock,
  time,
  burstWindowMs = 1_000,
  burstLimit,
  flushMs = 100,
  deadlineMs = 5_000,
  onError = () => {},
  openShares = () => wholeLimit,
}: RateLimiterOptions): RateLimiter => {
  const bursts = createBurstLimiter(burstWindowMs, time);
  const burstRetryAfterSeconds = Math.ceil(bursts.recoveryMs / 1_000);
  const counters = new PerKey<Counter>();
  const stream = rateStream(instance);
  const reports = new RateReports(counters, { store, stream, clock, flushMs, deadlineMs, onError });
  const minuteShares = openShares("minute", limits.minute.of, (apiKey) => {
    const counter = findCounter(counters, apiKey);
    return counter?.minute === minuteOf(clock()) ? counter.count : 0;
  });
  const burstShares = openShares("burst", limits.burst.of, (burstKey) => {
    const [apiKey = "", network = ""] = burstKey.split(" ");
    const counter = findCounter(counters, apiKey);
    return bursts.countOf(counter?.network === network ? counter : bursts.windowOf(burstKey));
  });
  const burstShareOf = (counter: Counter, client: string, atMost: number): number =>
    burstShares === wholeLimit ? atMost : burstShares.of(burstKeyOf(counter, client), atMost);

  return {
    admit: (key, client) => {
      const now = clock();
      const minute = minuteOf(now);
      const counter = counterOf(counters, key, minute, client);
      const limit = key.plan.requestsPerMinute;
      const elsewhere = requestsOnOtherInstances(view.get(ratePartition), stream, minute, key.apiKey);
      const left = Math.max(0, limit - counter.count - elsewhere);
      // The minute is checked before the burst: otherwise a request that is repeated after the
      // burst's Retry-After would be refused again.
      if (left === 0) return { limit, remaining: 0, refusal: minuteExceeded(now) };
      if (counter.count >= minuteShares.of(key.apiKey, limit)) {
        const refusal = minuteExceeded(now, minuteShares.more(key.apiKey, limit));
        return { limit, remaining: 0, refusal };
      }
      const burst = burstLimit ?? limits.burst.byDefault(limit);
      const window = windowOf(bursts, counter, client);
      if (!bursts.tryAcquire(window, burstShareOf(counter, client, burst))) {
        const more = burstShares.more(burstKeyOf(counter, client), burst);
        return { limit, remaining: left, refusal: burstExceeded(burstRetryAfterSeconds, more) };
      }
      counter.count += 1;
      reports.markChanged(counter);
      return { limit, remaining: left - 1 };
    },
    flush: () => reports.flush(),
    close: () => reports.close(),
  };
};

const findCounter = (counters: PerKey<Counter>, apiKey: string): Counter | undefined => {
  const keyNumber = findKeyNumber(apiKey);
  return keyNumber === undefined ? undefined : counters.get(keyNumber);
};

const burstKeyOf = (counter: Counter, client: string): string =>
  `${counter.apiKey} ${counter.client === client ? counter.network : clientNetwork(client)}`;

/**
 * Returns the counter of the key. It is reused every minute: with many keys, creating counters
 * would be most of the work.
 */
const counterOf = (
  counters: PerKey<Counter>,
  { apiKey, keyNumber }: LimitedKey,
  minute: number,
  client: string,
): Counter => {
  const known = counters.get(keyNumber);
  if (known?.minute === minute) return known;
  if (known) {
    known.minute = minute;
    known.count = 0;
    return known;
  }
  const counter = {
    apiKey,
    keyNumber,
    minute,
    count: 0,
    isChanged: false,
    slot: 0,
    sum: 0,
    counts: undefined,
    client,
    network: clientNetwork(client),
  };
  counters.set(keyNumber, counter);
  return counter;
};

const windowOf = (bursts: BurstLimiter, counter: Counter, client: string): BurstWindow => {
  if (counter.client === client) return counter;
  const network = clientNetwork(client);
  if (counter.network !== network) return bursts.windowOf(`${counter.apiKey} ${network}`);
  counter.client = client;
  return counter;
};
