import { startOfMonth } from "../../domain/ledger/month.ts";
import type { ReportQueue } from "./report-queue.ts";
import type { ReportUsage, UsageReport } from "./usage-report.ts";

interface OwnUsageRequest {
  readonly apiKey: string;
  readonly month?: string | undefined;
  readonly asOf?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The report that a key may read of its own month. All counts are in characters, except `requests`.
 * Times are ISO 8601, UTC.
 */
export interface OwnUsage extends Pick<UsageReport, "month" | "asOf" | "finalUntil" | "requests"> {
  readonly used: number;
  /** The plan's characters at `asOf`; null: no limit, or the key was not issued yet. */
  readonly limit: number | null;
  /** Never negative; null without a limit. */
  readonly remaining: number | null;
  /** The end of the month, when the next month's characters become available. */
  readonly reset: string;
  readonly byDay: UsageReport["byDay"];
  readonly byEngine: UsageReport["byEngine"];
  readonly byVoice: UsageReport["byVoice"];
}

/**
 * @throws {Invalid} for a bad month or time
 * @throws {Unavailable} if too many reports are waiting, or the event store cannot be read
 */
export type ReportOwnUsage = (request: OwnUsageRequest) => Promise<OwnUsage>;

export const createOwnUsage =
  ({
    reportUsage,
    queue,
  }: {
    readonly reportUsage: ReportUsage;
    readonly queue: ReportQueue;
  }): ReportOwnUsage =>
  ({ apiKey, signal, ...request }) =>
    queue.run(apiKey, signal, async (limited) =>
      present(await reportUsage({ apiKey, ...request, signal: limited })),
    );

const present = (report: UsageReport): OwnUsage => {
  const { month, asOf, finalUntil, characters, requests, quota = null, byDay, byEngine, byVoice } = report;
  return {
    month,
    asOf,
    finalUntil,
    used: characters,
    limit: quota,
    remaining: quota === null ? null : Math.max(0, quota - characters),
    reset: new Date(startOfMonth(month, 1)).toISOString(),
    requests,
    byDay,
    byEngine,
    byVoice,
  };
};
