import type { DayTotals, UsageTotals } from "../../../projections/usage-totals.ts";
import { sumUsage, type UsageCount } from "../../domain/ledger/accounts/usage-account.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { ReadCountedUsage } from "./counted-usage.ts";

/** The servings of all keys on all instances, up to a position of the log. */
export interface UsageOverview {
  /** The time in ISO 8601, UTC. */
  readonly asOf: string;
  readonly asOfPosition: number;
  /**
   * False if this instance has not read all of the log, or its view has failed: the latest servings
   * may be missing.
   */
  readonly isComplete: boolean;
  readonly today: UsagePeriod;
  readonly month: UsagePeriod;
  /** Today and the 30 days before, the earliest first. */
  readonly days: readonly { readonly day: string; readonly engines: Readonly<Record<string, UsageCount>> }[];
}

/** Requests and charged characters, without voided servings. */
export interface UsagePeriod extends UsageCount {
  /** The first day, `yyyy-mm-dd`. */
  readonly from: string;
  readonly voided: UsageCount;
  /** Keys are the sources of audio. Voided servings are included. */
  readonly served: Readonly<Record<AudioSource, UsageCount>>;
}

/** @throws {Unavailable} */
export type ShowUsage = () => Promise<UsageOverview>;

/** No month has more days. */
const daysShown = 31;
const dayMs = 86_400_000;

export const createUsageOverview =
  ({
    readCountedUsage,
    clock,
  }: {
    readonly readCountedUsage: ReadCountedUsage;
    readonly clock: () => EpochMs;
  }): ShowUsage =>
  async () => {
    const { totals, asOfPosition, isComplete } = await readCountedUsage();
    const now = clock();
    const asOf = new Date(now).toISOString();
    const [today, firstOfMonth] = [asOf.slice(0, 10), `${monthOf(asOf)}-01`];
    const days = Array.from({ length: daysShown }, (_, index) =>
      new Date(now - (daysShown - 1 - index) * dayMs).toISOString().slice(0, 10),
    );
    return {
      asOf,
      asOfPosition,
      isComplete,
      today: periodOf(totals, [today]),
      month: periodOf(
        totals,
        days.filter((day) => day >= firstOfMonth),
      ),
      days: days.map((day) => ({ day, engines: structuredClone(totals.days[day]?.engines ?? {}) })),
    };
  };

/** The sum of some days, the earliest first. */
const periodOf = ({ days: all }: UsageTotals, days: readonly string[]): UsagePeriod => {
  const totals = days.flatMap((day) => all[day] ?? []);
  const servedFrom = (source: AudioSource) => sumOf(totals, ({ served }) => [served[source]]);
  return {
    from: days[0] ?? "",
    ...sumOf(totals, ({ engines }) => Object.values(engines)),
    voided: sumOf(totals, ({ voided }) => [voided]),
    served: {
      miss: servedFrom("miss"),
      coalesced: servedFrom("coalesced"),
      memory: servedFrom("memory"),
      store: servedFrom("store"),
    },
  };
};

const sumOf = (
  days: readonly DayTotals[],
  countsOf: (day: DayTotals) => readonly (UsageCount | undefined)[],
): UsageCount => sumUsage(days.flatMap(countsOf).filter((count) => count !== undefined));
