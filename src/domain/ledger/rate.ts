import { count, type DataOf, type EventOf, listOf, text, utcTime } from "../shape.ts";

/**
 * Requests per key and minute, reported by one instance to the others. Stream `rate-{instance}`.
 */
export const rateShapes = {
  RequestsCounted: {
    /** The minute by the instance's clock, counted from the epoch. */
    minute: count,
    /** The keys whose counts have changed since the last report. */
    keys: listOf(text),
    /**
     * The requests of each key to this instance in this minute so far: a repeated report changes
     * nothing.
     */
    counts: listOf(count),
    at: utcTime,
  },
};
type RateEvent = EventOf<typeof rateShapes>;
export type RequestsCounted = DataOf<typeof rateShapes.RequestsCounted>;

export const rateStream = (instance: string): string => `rate-${instance}`;

/** This is long enough for every instance to read the current minute. */
export const rateRetentionSeconds = 180;

/** Keeps an event below 64 KB with keys of 28 characters. */
const maxKeysPerReport = 1_000;

export const minuteOf = (now: number): number => Math.floor(now / 60_000);

/** The requests of a key in a minute. */
export interface CountedRequests {
  readonly apiKey: string;
  readonly count: number;
}

/** Reports of at most `maxKeysPerReport` keys each; at least one report, which may have no keys. */
export const reportRequests = (
  minute: number,
  counted: readonly CountedRequests[],
  at: string,
): RateEvent[] => {
  const events: RateEvent[] = [];
  for (let first = 0; first === 0 || first < counted.length; first += maxKeysPerReport) {
    const some = counted.slice(first, first + maxKeysPerReport);
    const [keys, counts] = [some.map(({ apiKey }) => apiKey), some.map(({ count }) => count)];
    events.push({ type: "RequestsCounted", data: { minute, keys, counts, at } });
  }
  return events;
};
