import { never } from "../../never.ts";
import { later, type QuotaThresholdCrossed, type UsageAccountEvent } from "../accounts/usage-account.ts";
import { thresholdId } from "../accounts/usage-event-ids.ts";

/**
 * The thresholds in percent of a monthly quota. Each is reported once per key and month, even if
 * the quota changes.
 */
export const quotaThresholds = [50, 80, 95, 100] as const;

/** True if the characters are at least this percentage of the quota. */
export const hasReached = (threshold: number, characters: number, quota: number): boolean =>
  characters > 0 && characters * 100 >= quota * threshold;

/** The thresholds of an account. */
interface Thresholds {
  readonly closed: boolean;
  readonly crossed: readonly QuotaThresholdCrossed[];
  /** The time of the last event; empty before the first. */
  readonly at: string;
}

export const thresholdDecider = {
  initial: (): Thresholds => ({ closed: false, crossed: [], at: "" }),
  evolve: (state: Thresholds, event: UsageAccountEvent): Thresholds => {
    const { at } = event.data;
    switch (event.type) {
      case "UsagePosted":
        return { ...state, at };
      case "QuotaThresholdCrossed":
        return { ...state, at, crossed: [...state.crossed, event.data] };
      case "AccountClosed":
        return { ...state, at, closed: true };
      default:
        return never(event, state);
    }
  },
};

interface CrossThresholds {
  readonly apiKey: string;
  readonly month: string;
  /** The exact characters of the month. */
  readonly characters: number;
  readonly quota: number;
  /** The time in ISO 8601, UTC. */
  readonly at: string;
}

/**
 * The thresholds that are reached and were not reported this month. A closed account reports none.
 */
export const crossThresholds = (
  { closed, crossed, at: last }: Thresholds,
  { apiKey, month, characters, quota, at }: CrossThresholds,
): (Extract<UsageAccountEvent, { type: "QuotaThresholdCrossed" }> & { readonly id: string })[] => {
  if (closed) return [];
  return quotaThresholds
    .filter((threshold) => hasReached(threshold, characters, quota))
    .filter((threshold) => !crossed.some((one) => one.threshold === threshold))
    .map((threshold) => ({
      id: thresholdId(apiKey, month, threshold),
      type: "QuotaThresholdCrossed",
      data: { threshold, characters, quota, at: later(last, at) },
    }));
};

/** The characters at which the next threshold is reached; undefined after the last one. */
export const nextThreshold = (
  crossed: readonly Pick<QuotaThresholdCrossed, "threshold">[],
  quota: number,
): number | undefined => {
  const next = quotaThresholds.find((threshold) => !crossed.some((one) => one.threshold === threshold));
  return next === undefined ? undefined : Math.max(1, Math.ceil((quota * next) / 100));
};
