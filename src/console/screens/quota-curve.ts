import type { UsageReport } from "../../application/usage/usage-report.ts";
import { dayMs, monthEnd, monthStart } from "../format.ts";

export interface QuotaCurve {
  /** Unix seconds: the beginnings of the days of the month, and its end. */
  readonly x: readonly number[];
  /** Characters used before each time; null for times to come. */
  readonly used: readonly (number | null)[];
  /** The quota at each time; null: unlimited, or not issued yet. */
  readonly quota: readonly (number | null)[];
  /** From now to the month's end, at the pace of the month so far. */
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
  const times: number[] = [];
  for (let time = start; time <= end; time += dayMs) times.push(time);
  const perDay = new Map(byDay.map(({ day, characters }) => [Date.parse(day), characters]));
  let sum = 0;
  const used: (number | null)[] = [];
  for (const time of times) {
    // A day that is not over is included at the day's end.
    sum += perDay.get(time - dayMs) ?? 0;
    used.push(time - dayMs <= now ? sum : null);
  }
  const total = byDay.reduce((all, { characters }) => all + characters, 0);
  const isOver = now >= end;
  const elapsed = Math.max(dayMs / 24, now - start);
  const expected = isOver ? undefined : Math.round((total / elapsed) * (end - start));
  const forecast = times.map((time) =>
    isOver || time < now - dayMs ? null : Math.round((total / elapsed) * Math.max(elapsed, time - start)),
  );
  return {
    x: times.map((time) => time / 1_000),
    used,
    quota: times.map((time) => quotaAt(quotas, time)),
    forecast,
    expected,
  };
};

const quotaAt = (quotas: UsageReport["quotas"], time: number): number | null =>
  quotas.findLast(({ at }) => Date.parse(at) <= time)?.quota ?? null;
