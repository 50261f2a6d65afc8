import type { Rate } from "../../projections/rate.ts";
import type { View } from "../../projections/runner.ts";
import { RateLimited } from "../domain/errors.ts";
import type { Plan } from "../domain/plan.ts";
import { minuteOf, type RateEvent, rateDecider, rateRetentionSeconds, rateStream } from "../domain/rate.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { createBurstLimiter } from "./burst.ts";
import { clientNetwork } from "./client-network.ts";

/** What the limits say of one request. */
export interface Admission {
  /** The key's requests in a minute. */
  readonly limit: number;
  /** Those left in this minute. */
  readonly remaining: number;
  /** Set when the request is over a limit. */
  readonly refusal?: RateLimited;
}

/** Counts requests in fixed minutes (UTC), at once in memory, and tells the other instances soon after. */
export interface RateLimiter {
  admit(apiKey: string, plan: Plan, client: string): Admission;
  /** Tells the others what was counted since the last telling. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly handler: CommandHandler;
  readonly store: EventStore;
  readonly view: View<Rate>;
  /** This instance, unlike any other that ever was. */
  readonly instance: string;
  readonly clock: () => number;
  /** Milliseconds that never go back, for the burst check. Default `performance.now`. */
  readonly uptime?: () => number;
  /** The sliding window of the burst check. Default 1,000. */
  readonly burstWindowMs?: number;
  /** Default: a twentieth of the requests per minute, at least 20. */
  readonly burstLimit?: number | undefined;
  /** How soon the others hear. Default 100. */
  readonly flushMs?: number;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

interface Counter {
  minute: number;
  count: number;
  told: number;
}

export const createRateLimiter = ({
  handler,
  store,
  view,
  instance,
  clock,
  uptime,
  burstWindowMs = 1_000,
  burstLimit,
  flushMs = 100,
  onTrouble = () => {},
}: RateLimiterOptions): RateLimiter => {
  const bursts = createBurstLimiter(burstWindowMs, uptime);
  const burstOver = Math.ceil(bursts.forgetsWithinMs / 1_000);
  const counters = new Map<string, Counter>();
  const trimmed = new Set<string>();
  let flushing: Promise<void> | undefined;

  const counterOf = (apiKey: string, minute: number): Counter => {
    const known = counters.get(apiKey);
    if (known?.minute === minute) return known;
    const fresh = { minute, count: 0, told: 0 };
    counters.set(apiKey, fresh);
    return fresh;
  };

  const countedElsewhere = (apiKey: string, minute: number): number => {
    const told = view.get(rateStream(apiKey));
    if (told?.minute !== minute) return 0;
    let sum = 0;
    for (const other in told.counts) if (other !== instance) sum += told.counts[other] ?? 0;
    return sum;
  };

  const tell = async (apiKey: string, counter: Counter): Promise<void> => {
    const count = counter.count - counter.told;
    counter.told = counter.count;
    const at = new Date(clock()).toISOString();
    const counted: RateEvent = {
      type: "RequestsCounted",
      data: { instance, minute: counter.minute, count, at },
    };
    try {
      await handler.execute(rateDecider, rateStream(apiKey), () => [counted], { actor: "system" });
    } catch (error) {
      counter.told -= count; // for the next telling, while the minute lasts
      throw error;
    }
    if (trimmed.has(apiKey)) return;
    await store.setRetention(rateStream(apiKey), { maxAgeSeconds: rateRetentionSeconds });
    trimmed.add(apiKey);
  };

  /** Counters of past minutes go: whoever has not heard of them by now has no use for them. */
  const flush = async (): Promise<void> => {
    const minute = minuteOf(clock());
    const telling: Promise<void>[] = [];
    for (const [apiKey, counter] of counters) {
      if (counter.minute < minute) counters.delete(apiKey);
      else if (counter.count > counter.told) telling.push(tell(apiKey, counter));
    }
    for (const { status, reason } of (await Promise.allSettled(telling)) as PromiseRejectedResult[]) {
      if (status === "rejected")
        onTrouble("the other instances were not told of requests counted here", reason);
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
      const left = Math.max(0, limit - counter.count - countedElsewhere(apiKey, minute));
      // Whoever waited only for the burst to be over would be refused again.
      if (left === 0) return { limit, remaining: 0, refusal: tooMany(secondsLeft(now)) };
      const burst = burstLimit ?? Math.max(20, Math.floor(limit / 20));
      if (!bursts.take(`${apiKey} ${clientNetwork(client)}`, burst)) {
        return { limit, remaining: left, refusal: tooFast(burstOver) };
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

const tooMany = (retryAfterSeconds: number): RateLimited =>
  new RateLimited("The key has no requests left in this minute.", "minute", retryAfterSeconds);

const tooFast = (retryAfterSeconds: number): RateLimited =>
  new RateLimited("Too many requests at once from this key and address.", "burst", retryAfterSeconds);
