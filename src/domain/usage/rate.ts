/** How many requests each key made in a minute, as one instance reports it to the others. Stream `rate-{instance}`. */
export type RateEvent = { readonly type: "RequestsCounted"; readonly data: RequestsCounted };

export interface RequestsCounted {
  /** The minute by the instance's clock, counted from the epoch. */
  readonly minute: number;
  /** The keys whose counts have changed since the last report. */
  readonly keys: readonly string[];
  /** For each of them its requests to this instance in this minute so far: a report that comes twice changes nothing. */
  readonly counts: readonly number[];
  readonly at: string;
}

export const rateStream = (instance: string): string => `rate-${instance}`;

/** Long enough for any instance to read of the current minute, short enough to stay small. */
export const rateRetentionSeconds = 180;

/** With keys of 28 characters an event of as many has less than 64 KB. */
export const maxKeysPerReport = 1_000;

export const minuteOf = (now: number): number => Math.floor(now / 60_000);

/** Reports of at most `maxKeysPerReport` keys each. */
export const reportRequests = (
  minute: number,
  counts: readonly (readonly [apiKey: string, count: number])[],
  at: string,
): RateEvent[] => {
  const events: RateEvent[] = [];
  for (let first = 0; first < counts.length; first += maxKeysPerReport) {
    const some = counts.slice(first, first + maxKeysPerReport);
    const [keys, ofKeys] = [some.map(([apiKey]) => apiKey), some.map(([, count]) => count)];
    events.push({ type: "RequestsCounted", data: { minute, keys, counts: ofKeys, at } });
  }
  return events;
};
