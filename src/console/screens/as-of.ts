import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { AuditEntry } from "../../ledger/audit/audit-entries.ts";
import type { EventsPage } from "../../ledger/audit/event-log.ts";
import type { UsageReport } from "../../ledger/reports/usage-report.ts";
import type { Api, Query } from "../api.ts";
import { Field, fieldsOf, valueIn } from "../components/field.ts";
import { Plot } from "../components/plot.ts";
import { Empty, Loaded } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { dayMs, formatCount, formatDay, formatQuota, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { changeQuery, linkTo, type Route, type ScreenProps } from "../routing.ts";
import { useSession } from "../session.ts";
import { useData } from "../use-data.ts";

/** The sliders reach back this many days. */
const daysBack = 400;
/** At most this many events between the dates are read at once. */
const maxBetween = 500;

interface Dates {
  readonly apiKey: string;
  /** `yyyy-mm-dd`, UTC, inclusive. */
  readonly earlier: string;
  readonly later: string;
}

interface Comparison {
  readonly before: UsageReport;
  readonly after: UsageReport;
  readonly between: EventsPage;
}

const endOf = (day: string): string => new Date(Date.parse(day) + dayMs - 1).toISOString();
const dayAfter = (day: string): string => formatDay(Date.parse(day) + dayMs);

/** A key's usage, plan and quota as they were at the ends of two days. */
export const AsOf = ({ route }: ScreenProps): VNode => {
  const { api } = useSession();
  const today = formatDay(Date.now());
  const later = route.query.get("later") ?? today;
  const earlier = route.query.get("earlier") ?? formatDay(Date.parse(later) - 7 * dayMs);
  const apiKey = route.query.get("key") ?? "";
  const [first = "", last = ""] = [earlier, later].sort();
  const dates = { apiKey, earlier: first, later: last };
  const load = async (signal: AbortSignal): Promise<Comparison | undefined> => {
    if (apiKey === "") return undefined;
    const path = `admin/keys/${encodeURIComponent(apiKey)}/usage`;
    const reportOf = (day: string, asOfPosition?: number) =>
      api.get<UsageReport>(path, { query: { asOf: endOf(day), asOfPosition }, signal });
    const period = { from: dayAfter(dates.earlier), to: dayAfter(dates.later) };
    const after = await reportOf(dates.later);
    // The earlier report is read as of the position of the later one, so that both describe the
    // same log.
    const [before, between] = await Promise.all([
      reportOf(dates.earlier, after.asOfPosition),
      readBetween(api, { apiKey, ...period }, signal),
    ]);
    return { before, after, between };
  };
  const data = useData(load, [apiKey, dates.earlier, dates.later]);
  return html`<h1>As of</h1>
    <p>What the ledger said at the end of two days (UTC), and the events in between.</p>
    <form class="filters" onSubmit=${(event: SubmitEvent) => changeQuery(route, fieldsOf(event))}>
      <${Field} label="Key" control=${{ name: "key", defaultValue: apiKey, required: true, spellcheck: false }} />
      <button type="submit" class="primary">Show</button>
    </form>
    <div class="filters">
      <${DaySlider} label="Earlier day" name="earlier" day=${earlier} today=${today} route=${route} />
      <${DaySlider} label="Later day" name="later" day=${later} today=${today} route=${route} />
    </div>
    <${Loaded} data=${data} what="Reading the ledger">
      ${(comparison: Comparison | undefined) =>
        comparison
          ? html`<${Compared} dates=${dates} ...${comparison} />`
          : html`<${Empty}>Enter a key. <a href=${linkTo(["keys"])}>Find one</a><//>`}
    <//>`;
};

/**
 * Reads the events of the period: all, or the first `maxBetween`. A page may have few or none
 * before the end of the period.
 */
const readBetween = async (api: Api, period: Query, signal: AbortSignal): Promise<EventsPage> => {
  const entries: AuditEntry[] = [];
  let page: EventsPage | undefined;
  while (!page || (!page.caughtUp && entries.length < maxBetween)) {
    const query = { ...period, after: page?.next, limit: maxBetween - entries.length };
    page = await api.get<EventsPage>("admin/events", { query, signal });
    entries.push(...page.entries);
  }
  return { ...page, entries };
};

interface DaySliderProps {
  readonly label: string;
  readonly name: "earlier" | "later";
  readonly day: string;
  readonly today: string;
  readonly route: Route;
}

/** A slider of days, and the same day as a date. */
const DaySlider = ({ label, name, day, today, route }: DaySliderProps): VNode => {
  const first = Date.parse(today) - daysBack * dayMs;
  const value = Math.round((Date.parse(day) - first) / dayMs);
  const slide = (event: Event) =>
    changeQuery(route, { [name]: formatDay(first + Number(valueIn(event)) * dayMs) });
  const choose = (event: Event) => valueIn(event) !== "" && changeQuery(route, { [name]: valueIn(event) });
  return html`<fieldset class="day">
    <legend>${label} (UTC)</legend>
    <${Field} label="Days" control=${{ type: "range", min: 0, max: daysBack, value, onChange: slide, "aria-valuetext": day }} />
    <${Field} label="Date" control=${{ type: "date", value: day, max: today, onChange: choose }} />
  </fieldset>`;
};

interface Fact {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly difference: string;
}

const changed = (name: string, before: string, after: string): Fact => ({
  name,
  before,
  after,
  difference: before === after ? "unchanged" : "changed",
});

const counted = (name: string, before: number, after: number): Fact => ({
  name,
  before: formatCount(before),
  after: formatCount(after),
  difference: after >= before ? `+${formatCount(after - before)}` : `−${formatCount(before - after)}`,
});

const factsOf = (before: UsageReport, after: UsageReport): Fact[] => [
  changed("State", before.status ?? "not issued", after.status ?? "not issued"),
  changed("Plan", before.plan?.tier ?? "–", after.plan?.tier ?? "–"),
  changed("Quota, characters per month", formatQuota(before.quota), formatQuota(after.quota)),
  changed("Requests per minute", perMinute(before), perMinute(after)),
  changed("Month of the totals", before.month, after.month),
  counted("Characters in the month", before.characters, after.characters),
  counted("Requests in the month", before.requests, after.requests),
  counted("Voided characters", before.voided.characters, after.voided.characters),
];

const perMinute = ({ plan }: UsageReport): string => (plan ? formatCount(plan.requestsPerMinute) : "–");

const Compared = ({ dates, before, after, between }: Comparison & { dates: Dates }): VNode => {
  const asOf = `as of position ${formatCount(after.asOfPosition)}`;
  const titles = { before: dates.earlier, after: dates.later, difference: "Difference" };
  const columns: readonly Column<Fact>[] = [
    { title: "", value: ({ name }) => name, isSortable: false },
    ...(["before", "after", "difference"] as const).map((id) => ({
      id,
      title: titles[id],
      value: (fact: Fact) => fact[id],
      isNumber: true,
      isSortable: false,
    })),
  ];
  const facts = factsOf(before, after);
  const months = before.month === after.month ? "" : " The totals are of different months.";
  return html`<div class="stack"><p class="as-of">Ends of both days (UTC), ${asOf}.${months}</p>
    <${Table} caption=${`${dates.apiKey} on ${dates.earlier} and ${dates.later}`} columns=${columns} rows=${facts}
      idOf=${({ name }: Fact) => name} />
    <${Curves} dates=${dates} before=${before} after=${after} asOf=${asOf} />
    <${Between} dates=${dates} page=${between} /></div>`;
};

const daysOfMonth = Array.from({ length: 31 }, (_, index) => index + 1);

/** Adds up the characters by day of the month; null after the day of the report. */
const cumulative = ({ byDay, asOf }: UsageReport): (number | null)[] => {
  const last = Number(asOf.slice(8, 10));
  let sum = 0;
  return daysOfMonth.map((dayOfMonth) => {
    const name = String(dayOfMonth).padStart(2, "0");
    sum += byDay.find(({ day }) => day.endsWith(`-${name}`))?.characters ?? 0;
    return dayOfMonth <= last ? sum : null;
  });
};

interface CurvesProps extends Pick<Comparison, "before" | "after"> {
  readonly dates: Dates;
  readonly asOf: string;
}

const Curves = ({ dates, before, after, asOf }: CurvesProps): VNode => {
  const series = useMemo(
    () => [
      { label: `${before.month} as of ${dates.earlier}`, values: cumulative(before) },
      { label: `${after.month} as of ${dates.later}`, values: cumulative(after), isDashed: true },
    ],
    [before, after],
  );
  return html`<${Plot} title="Cumulative characters" asOf=${asOf} isTime=${false} xTitle="Day of the month (UTC)" x=${daysOfMonth}
    formatX=${String} series=${series} />`;
};

const eventColumns: readonly Column<AuditEntry>[] = [
  {
    title: "Position",
    isNumber: true,
    value: ({ position, index }) => position + index / 1e6,
    view: ({ position, index }) => `${position}.${index}`,
  },
  { title: "Time (UTC)", value: ({ at }) => at, view: ({ at }) => formatTime(at) },
  { title: "Type", value: ({ type }) => type },
  { title: "Facts", value: ({ data }) => factText(data), isSortable: false },
];

/** The members that change usage, plan or state. */
const factText = (data: object): string => {
  const { characters, plan, reason, cause, voice } = data as Record<string, unknown>;
  return Object.entries({ characters, plan, reason, cause, voice })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
};

const Between = ({ dates, page }: { dates: Dates; page: EventsPage }): VNode => {
  const { apiKey, earlier, later } = dates;
  const link = linkTo(["ledger"], {
    key: apiKey,
    from: `${dayAfter(earlier)}T00:00:00.000Z`,
    to: `${dayAfter(later)}T00:00:00.000Z`,
  });
  return html`<h2>Events between</h2>
    <p class="as-of">${page.caughtUp ? "All" : "The first"} ${formatCount(page.entries.length)} events after ${earlier} until the end of${" "}
      ${later}, as of position ${formatCount(page.asOfPosition)}. <a href=${link}>Read them in the ledger</a></p>
    <${Table} caption="Events between the days" columns=${eventColumns} rows=${page.entries} empty="No events."
      idOf=${({ position, index }: AuditEntry) => `${position}.${index}`} />`;
};
