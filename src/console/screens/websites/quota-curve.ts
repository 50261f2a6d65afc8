import type { UsageReport } from "../../../ledger/reports/usage-report.ts";
import { sumOf } from "../../daily-usage.ts";
import { dayMs, monthEnd, monthStart } from "../../format.ts";

interface QuotaCurve {
  /**
   * Unix seconds: the beginnings of the days of the month, the time of the report, and the month's
   * end.
   */
  readonly x: readonly number[];
  /** Characters used before each time; null after the report. */
  readonly used: readonly (number | null)[];
  /** The quota at each time; null: unlimited, or not issued yet. */
  readonly quota: readonly (number | null)[];
  /** The forecast from now to the month's end, at the pace of the month so far. */
  readonly forecast: readonly (number | null)[];
  /** Expected characters at the month's end; undefined for months that have ended. */
  readonly expected: number | undefined;
}

/** A month's usage, added up, against the quota as it was at each time. */
export const quotaCurve = ({
  month,
  byDay,
  asOf,
  quotas,
}: Pick<UsageReport, "month" | "byDay" | "asOf" | "quotas">): QuotaCurve => {
  const [start, end, now] = [monthStart(month), monthEnd(month), Date.parse(asOf)];
  const isOver = now >= end;
  const times = isOver || now < start ? [] : [now];
  for (let time = start; time <= end; time += dayMs) if (time !== now) times.push(time);
  times.sort((a, b) => a - b);
  const usedBefore = (time: number): number =>
    sumOf(byDay.filter(({ day }) => Date.parse(day) < time).map(({ characters }) => characters));
  const total = usedBefore(end);
  const elapsed = Math.max(dayMs / 24, now - start);
  const expectedAt = (time: number): number =>
    Math.round((total / elapsed) * Math.max(elapsed, time - start));
  return {
    x: times.map((time) => time / 1_000),
    used: times.map((time) => (time <= now ? usedBefore(time) : null)),
    quota: times.map((time) => quotaAt(quotas, time)),
    forecast: times.map((time) => (isOver || time < now ? null : expectedAt(time))),
    expected: isOver ? undefined : expectedAt(end),
  };
};

const quotaAt = (quotas: UsageReport["quotas"], time: number): number | null =>
  quotas.findLast(({ at }) => Date.parse(at) <= time)?.quota ?? null;
