import { z } from "zod";
import { sumUsage, type UsageCount } from "../../domain/ledger/accounts/usage-account.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import type { ReportUsageBuckets } from "./usage-buckets.ts";

/** The charges of all keys on one day (UTC), without voided servings. */
export interface DailyUsage extends UsageCount {
  /** `yyyy-mm-dd`. */
  readonly day: string;
  /**
   * Everything that was recorded up to this time is included (ISO 8601, UTC). Servings of the last
   * 130 seconds before it may still be added.
   */
  readonly asOf: string;
  /** The keys that have charges. */
  readonly keys: readonly KeyUsage[];
}

interface KeyUsage extends UsageCount {
  readonly websiteId: string;
  readonly apiKey: string;
}

/**
 * Reports one day: `yyyy-mm-dd`, `today` or `yesterday`.
 * @throws {Invalid} for anything else
 * @throws {Unavailable}
 */
export type ReportDailyUsage = (day: string) => Promise<DailyUsage>;

const dayMs = 86_400_000;
const dayError = "Must be today, yesterday or a date such as 2026-11-01.";
const request = z.object({ day: z.iso.date({ error: dayError }) });

export const createDailyUsage =
  ({
    reportUsageBuckets,
    clock,
  }: {
    readonly reportUsageBuckets: ReportUsageBuckets;
    readonly clock: () => EpochMs;
  }): ReportDailyUsage =>
  async (named) => {
    const { day } = parse(request, { day: dateOf(named, clock()) });
    const start = Date.parse(day);
    const { asOf, buckets } = await reportUsageBuckets({
      fromInclusive: start / 1_000,
      toExclusive: (start + dayMs) / 1_000,
      width: "1d",
      groupBy: ["project_id", "api_key_id"],
      signal: new AbortController().signal,
    });
    const keys = buckets.flatMap(({ rows }) =>
      rows.map(({ websiteId, apiKey, requests, characters }) => ({
        websiteId: websiteId ?? "",
        apiKey: apiKey ?? "",
        requests,
        characters,
      })),
    );
    return {
      day,
      asOf: new Date(asOf * 1_000).toISOString(),
      ...sumUsage(keys),
      keys,
    };
  };

const dateOf = (day: string, now: EpochMs): string => {
  if (day !== "today" && day !== "yesterday") return day;
  return new Date(day === "today" ? now : now - dayMs).toISOString().slice(0, 10);
};
