import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { AuditEntry } from "../../ledger/audit/audit-entries.ts";
import type { EventCounts } from "../../ledger/audit/event-counts.ts";
import type { EventsPage } from "../../ledger/audit/event-log.ts";
import { isAbort, type Query } from "../api.ts";
import { CopyButton } from "../components/copy-button.ts";
import { Dialog } from "../components/dialog.ts";
import { Field, fieldsOf } from "../components/field.ts";
import { Plot, type PlotProps } from "../components/plot.ts";
import { Empty, Failed, Loaded, Loading } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { dayMs, formatCount, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { changeQuery, linkTo, type ScreenProps } from "../routing.ts";
import { useSession } from "../session.ts";
import { useData } from "../use-data.ts";
import { Downloads } from "./ledger-downloads.ts";

/**
 * At most this many entries are in memory. Earlier ones are left out, and can be read again by
 * position.
 */
const maxEntries = 2_000;
const waitSeconds = 20;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Events may be stored this much later than they happened. */
const clockToleranceMs = 5 * minuteMs;

interface Filters {
  readonly apiKey: string;
  readonly stream: string;
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly after: string;
}

const filtersOf = (query: URLSearchParams): Filters => {
  const of = (name: string) => query.get(name) ?? "";
  const [after, to] = [of("after"), of("to")];
  const from = of("from") || (after || to ? "" : new Date(Date.now() - hourMs).toISOString());
  return { apiKey: of("key"), stream: of("stream"), type: of("type"), from, to, after };
};

/**
 * Writes the value of a `datetime-local` control as a time in UTC for the API. An empty value stays
 * empty.
 */
const timeOfControl = (value: string): string => (value === "" ? "" : `${value.slice(0, 16)}:00.000Z`);

/** A field for a minute in UTC. */
const minuteField = (label: string, name: string, time: string): VNode => {
  const defaultValue = time && new Date(time).toISOString().slice(0, 16);
  return html`<${Field} label=${label} control=${{ type: "datetime-local", name, defaultValue }} />`;
};

/**
 * True if the log will have no new events of the period. Without this check, a live list would read
 * the rest of the log in vain.
 */
const hasEnded = ({ to }: Filters): boolean => to !== "" && Date.parse(to) + clockToleranceMs < Date.now();

/** The log's events by position. */
export const Ledger = ({ route }: ScreenProps): VNode => {
  const [filters, setFilters] = useState(() => filtersOf(route.query));
  const [isLive, setLive] = useState(false);
  const [shown, setShown] = useState<AuditEntry>();
  const query = route.query.toString();
  useEffect(() => setFilters(filtersOf(route.query)), [query]);
  const submit = (event: SubmitEvent) => {
    const { key, stream, type, from = "", to = "", after } = fieldsOf(event);
    changeQuery(route, { key, stream, type, from: timeOfControl(from), to: timeOfControl(to), after });
  };
  const select = (from: number, to: number) =>
    changeQuery(route, {
      from: new Date(Math.floor(from / 60) * minuteMs).toISOString(),
      to: new Date(Math.ceil(to / 60) * minuteMs).toISOString(),
    });
  const log = useEntries(filters, isLive);
  return html`<h1>Ledger</h1>
    <form class="filters" onSubmit=${submit} key=${query}>
      <${Field} label="Key" control=${{ name: "key", defaultValue: filters.apiKey, spellcheck: false }} />
      <${Field} label="Stream begins with" control=${{ name: "stream", defaultValue: filters.stream, spellcheck: false }} />
      <${Field} label="Type" control=${{ name: "type", defaultValue: filters.type, spellcheck: false }} />
      ${minuteField("From (UTC)", "from", filters.from)} ${minuteField("To (UTC)", "to", filters.to)}
      <${Field} label="After position" control=${{ name: "after", defaultValue: filters.after, pattern: "\\d{1,15}(\\.\\d{1,6})?" }} />
      <button type="submit" class="primary">Show</button>
    </form>
    <div class="minutes"><${Minutes} filters=${filters} onSelect=${select} /></div>
    <h2>Events</h2>
    <div class="row">
      <${Field} label="Live tail" control=${{ type: "checkbox", checked: isLive, onChange: () => setLive(!isLive) }} />
      <span role="status">${isLive && (hasEnded(filters) ? "The period has ended: there are no new events in it." : "Waiting for new events.")}</span>
      <${Downloads} filters=${filters} />
    </div>
    <${Entries} log=${log} onShow=${setShown} />
    ${shown && html`<${Detail} entry=${shown} onClose=${() => setShown(undefined)} />`}`;
};

/**
 * Reads pages until there are entries to show or the end of the log is reached. If `isLive`, it
 * then waits for new events.
 */
const useEntries = (filters: Filters, isLive: boolean) => {
  const { api } = useSession();
  const [entries, setEntries] = useState<readonly AuditEntry[]>([]);
  const [page, setPage] = useState<EventsPage>();
  const [error, setError] = useState<unknown>();
  const [wanted, setWanted] = useState(1);
  const [isBusy, setBusy] = useState(true);
  const [of, setOf] = useState(filters);
  const isSame = of === filters;
  useEffect(() => {
    setOf(filters);
    setEntries([]);
    setPage(undefined);
    setWanted(1);
  }, [filters]);
  useEffect(() => {
    if (!isSame) return;
    const controller = new AbortController();
    const read = async () => {
      let last = page;
      for (let found = 0; (isLive && !hasEnded(filters)) || (found === 0 && !last?.caughtUp) || !last; ) {
        const wait = isLive && last?.caughtUp ? waitSeconds : undefined;
        const query: Query = { ...filters, after: last?.next ?? filters.after, limit: 200, wait };
        last = await api.get<EventsPage>("admin/events", { query, signal: controller.signal });
        const { entries: added } = last;
        found += added.length;
        setPage(last);
        setEntries((before) => [...before, ...added].slice(-maxEntries));
      }
    };
    setBusy(true);
    setError(undefined);
    read()
      .catch((failure: unknown) => !isAbort(failure) && !controller.signal.aborted && setError(failure))
      .finally(() => !controller.signal.aborted && setBusy(false));
    return () => controller.abort();
  }, [isSame, isLive, wanted]);
  const loadMore = () => {
    setPage((before) => before && { ...before, caughtUp: false });
    setWanted((count) => count + 1);
  };
  return { entries, page, error, isBusy, loadMore };
};

interface EntriesProps {
  readonly log: ReturnType<typeof useEntries>;
  readonly onShow: (entry: AuditEntry) => void;
}

const Entries = ({ log: { entries, page, error, isBusy, loadMore }, onShow }: EntriesProps): VNode => {
  const columns: readonly Column<AuditEntry>[] = [
    {
      title: "Position",
      isNumber: true,
      value: ({ position, index }) => position + index / 1e6,
      view: (entry) => html`<button type="button" class="quiet mono" onClick=${() => onShow(entry)}
          aria-label=${`Show the event at position ${entry.position}.${entry.index}`}>
          ${`${entry.position}.${entry.index}`}</button>`,
    },
    { title: "Time (UTC)", value: ({ at }) => at, view: ({ at }) => formatTime(at) },
    { title: "Type", value: ({ type }) => type },
    {
      title: "Stream",
      value: ({ stream }) => stream,
      view: ({ stream }) => html`<a class="mono" href=${linkTo(["ledger"], { stream })}>${stream}</a>`,
    },
    { title: "Actor", value: ({ metadata }) => metadata.actor },
  ];
  if (error !== undefined) return html`<${Failed} error=${error} onRetry=${loadMore} />`;
  if (!page) return html`<${Loading} what="Reading the log" />`;
  const asOf = `as of position ${formatCount(page.asOfPosition)}`;
  return html`<p class="as-of">${formatCount(entries.length)} entries, ${asOf}.
      ${entries.length === maxEntries && ` Only the last ${formatCount(maxEntries)} are kept here.`}</p>
    ${
      entries.length === 0
        ? html`<${Empty}>${isBusy ? "No entries so far." : "No entries match."}<//>`
        : html`<${Table} caption="Events" columns=${columns} rows=${entries}
            idOf=${({ position, index }: AuditEntry) => `${position}.${index}`} />`
    }
    <div class="actions">
      ${isBusy && html`<${Loading} what="Reading the log" />`}
      <button type="button" disabled=${isBusy} onClick=${loadMore}>
        ${page.caughtUp ? "Look for new entries" : "Read on"}</button>
    </div>`;
};

const Detail = ({ entry, onClose }: { entry: AuditEntry; onClose: () => void }): VNode => {
  const text = JSON.stringify(entry, null, 2);
  return html`<${Dialog} title=${`${entry.type} at position ${entry.position}.${entry.index}`} onClose=${onClose}>
    <p>${formatTime(entry.at)}, <span class="mono">${entry.stream}</span> revision ${entry.revision}</p>
    <pre tabindex="0">${text}</pre>
    <div class="actions"><${CopyButton} label="Copy JSON" text=${() => text} />
      <button type="button" onClick=${onClose}>Close</button></div>
  <//>`;
};

interface MinutesProps extends Required<Pick<PlotProps, "onSelect">> {
  readonly filters: Filters;
}

const Minutes = ({ filters, onSelect }: MinutesProps): VNode => {
  const { api } = useSession();
  const { apiKey, stream, type } = filters;
  const end = filters.to ? Date.parse(filters.to) : Date.now();
  const start = Math.max(filters.from ? Date.parse(filters.from) : 0, end - dayMs);
  const [from, to] = [start, end].map((time) => new Date(time).toISOString());
  const data = useData(
    (signal) =>
      api.get<EventCounts>("admin/events/counts", { query: { apiKey, stream, type, from, to }, signal }),
    [filters],
  );
  return html`<${Loaded} data=${data} what="Counting">
    ${({ minutes, asOfPosition }: EventCounts) =>
      minutes.length === 0
        ? html`<${Empty}>No events from ${formatTime(start)} to ${formatTime(end)}.<//>`
        : html`<${MinutePlot} minutes=${minutes} start=${start} end=${end} onSelect=${onSelect}
            asOf=${`as of position ${formatCount(asOfPosition)}`} />`}
  <//>`;
};

interface MinutePlotProps extends Pick<PlotProps, "asOf" | "onSelect"> {
  readonly minutes: EventCounts["minutes"];
  readonly start: number;
  readonly end: number;
}

/** All minutes of the period, also those without entries. */
const MinutePlot = ({ minutes, start, end, asOf, onSelect }: MinutePlotProps): VNode => {
  const [x, series] = useMemo(() => {
    const counts = new Map(minutes.map(({ minute, entries }) => [Date.parse(minute) / 1_000, entries]));
    const first = Math.floor(start / minuteMs) * 60;
    const length = Math.max(1, Math.ceil((end / 1_000 - first) / 60));
    const times = Array.from({ length }, (_, index) => first + 60 * index);
    const values = times.map((time) => counts.get(time) ?? 0);
    return [times, [{ label: "Entries; drag to filter", kind: "bars" as const, values }]];
  }, [minutes]);
  return html`<${Plot} title="Events per minute" asOf=${asOf} x=${x} series=${series} onSelect=${onSelect} />`;
};
