/** How many requests a key made in a minute, as one instance tells the others. Stream `rate-{apiKey}`, trimmed by age. */
export type RateEvent = { readonly type: "RequestsCounted"; readonly data: RequestsCounted };

export interface RequestsCounted {
  /** The instance that counted; its own counter already holds these. */
  readonly instance: string;
  /** The minute, counted from the epoch. */
  readonly minute: number;
  /** Requests since the instance's last telling. */
  readonly count: number;
  readonly at: string;
}

export const rateStream = (apiKey: string): string => `rate-${apiKey}`;

/** Long enough for any instance to hear of the current minute, short enough to stay small. */
export const rateRetentionSeconds = 180;

/** Deltas are facts at once: nothing is decided on what came before. */
export const rateDecider = {
  initial: (): null => null,
  evolve: (state: null, _event: RateEvent): null => state,
};

export const minuteOf = (now: number): number => Math.floor(now / 60_000);
