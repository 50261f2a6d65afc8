import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { InstanceStatus } from "../../application/health/instance-status.ts";
import type { UsageOverview, UsagePeriod } from "../../ledger/reports/usage-overview.ts";
import { Plot } from "../components/plot.ts";
import { Badge, Empty, Figure, Loaded } from "../components/status.ts";
import { badgeColumn, type Column, numberColumn, Table } from "../components/table.ts";
import { sumOf } from "../daily-usage.ts";
import { dayMs, formatCount, formatDay, formatMilliseconds, formatShare, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { useGet } from "../use-data.ts";

/** The first pause before the usage is read again. Each further pause is twice as long. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** The usage of all instances, and the state of the instance that responds. */
export const Overview = (): VNode => {
  const status = useGet<InstanceStatus>("admin/status");
  const usage = useGet<UsageOverview>("admin/usage");
  const pauseMs = useRef(firstPauseMs);
  useEffect(() => {
    if (usage.status !== "ready" || usage.isStale || usage.value.isComplete) return;
    const timer = setTimeout(usage.reload, pauseMs.current);
    pauseMs.current = Math.min(longestPauseMs, 2 * pauseMs.current);
    return () => clearTimeout(timer);
  }, [usage]);
  const reload = () => {
    status.reload();
    usage.reload();
  };
  return html`
    <div class="head">
      <h1>Overview</h1>
      <button type="button" onClick=${reload}>Read again</button>
    </div>
    <${Loaded} data=${status} what="Reading the state of the service">
      ${(value: InstanceStatus) => html`<${Instance} status=${value} />`}
    <//>
    <${Loaded} data=${usage} what="Adding up the usage of all keys">
      ${(value: UsageOverview) => html`<${AllUsage} usage=${value} />`}
    <//>
    <${Loaded} data=${status}>
      ${(value: InstanceStatus) => html`<${ActivityPlots} status=${value} />`}
    <//>
  `;
};

const sources = [
  { id: "miss", title: "Synthesized (miss)" },
  { id: "coalesced", title: "Joined a synthesis (coalesced)" },
  { id: "memory", title: "Memory" },
  { id: "store", title: "Audio store" },
] as const;

const AllUsage = ({ usage }: { usage: UsageOverview }): VNode => {
  const { today, month, days } = usage;
  const asOf = `as of position ${formatCount(usage.asOfPosition)}, ${formatTime(usage.asOf)}`;
  const engines = [...new Set(days.flatMap(({ engines }) => Object.keys(engines)))].sort();
  return html`<section class="stack" aria-busy=${!usage.isComplete}>
    <h2>All keys on all instances</h2>
    <p class="as-of">Exactly the servings of the ledger ${asOf}. Days are UTC.</p>
    ${
      usage.isComplete ||
      html`<p role="status">This instance is still reading the log: later servings are still missing.</p>`
    }
    <dl class="figures">
      <${Figure} name="Characters today" value=${formatCount(today.characters)} note=${voidedNote(today)} />
      <${Figure} name="Requests today" value=${formatCount(today.requests)} note=${cacheNote(today)} />
      <${Figure} name="Characters this month" value=${formatCount(month.characters)} note=${voidedNote(month)} />
      <${Figure} name="Requests this month" value=${formatCount(month.requests)} note=${cacheNote(month)} />
    </dl>
    <div class="grid">
      <${Plot}
        title="Daily characters by engine"
        x=${days.map(({ day }) => Date.parse(day) / 1_000)}
        series=${engines.map((engine) => ({
          label: engine,
          values: days.map(({ engines }) => engines[engine]?.characters ?? 0),
          kind: "step" as const,
        }))}
        isStacked
        xTitle="Day (UTC)"
        formatX=${(day: number) => formatDay(day * 1_000)}
        asOf=${asOf}
      />
      <${Sources} usage=${usage} asOf=${asOf} />
    </div>
  </section>`;
};

const voidedNote = ({ from, voided }: UsagePeriod): string =>
  `since ${from}${voided.requests === 0 ? "" : `, without ${formatCount(voided.requests)} voided requests`}`;

const servingsOf = ({ served }: UsagePeriod): number => sumOf(sources.map(({ id }) => served[id].requests));

const cacheNote = (period: UsagePeriod): string => {
  const all = servingsOf(period);
  return `${formatShare(all - period.served.miss.requests, all)} without synthesis`;
};

/** The sources of the audio of all servings. */
const Sources = ({ usage: { today, month }, asOf }: { usage: UsageOverview; asOf: string }): VNode => {
  type Source = (typeof sources)[number];
  const columnOf = (title: string, period: UsagePeriod): Column<Source> =>
    numberColumn({
      title,
      value: ({ id }) => period.served[id].requests,
      format: (requests) => `${formatCount(requests)} (${formatShare(requests, servingsOf(period))})`,
    });
  const columns: Column<Source>[] = [
    { title: "Source", value: ({ title }) => title },
    columnOf("Today", today),
    columnOf("This month", month),
  ];
  return html`<section class="card">
    <h2>Where audio came from</h2>
    <p class="as-of">${asOf}, voided requests included</p>
    <${Table} caption="Requests by where their audio came from" columns=${columns} rows=${sources} idOf=${({ id }: Source) => id} />
  </section>`;
};

const Instance = ({ status }: { status: InstanceStatus }): VNode => {
  const { health, projections, others, startedAt, position, asOf } = status;
  const tone = health.status === "ok" ? "good" : health.status === "degraded" ? "warn" : "bad";
  return html`<div class="stack">
    <dl class="figures">
      <${Figure} name="Health" value=${html`<${Badge} tone=${tone}>${health.status}<//>`} note=${`this instance, as of ${formatTime(asOf)}`} />
      <${Figure}
        name="Projections"
        value=${projections.live ? html`<${Badge} tone="good">live<//>` : html`<${Badge} tone="bad">down<//>`}
        note=${`this instance: lag ${formatMilliseconds(projections.lagMs)}, at position ${formatCount(position)}`}
      />
      <${Figure} name="Instances" value=${1 + others.length} note=${`this one since ${formatTime(startedAt)}`} />
    </dl>
    <${Parts} status=${status} />
  </div>`;
};

const Parts = ({ status }: { status: InstanceStatus }): VNode => {
  const parts = Object.entries(status.health.parts).map(([name, part]) => ({ name, ...part }));
  type Part = (typeof parts)[number];
  const columns: Column<Part>[] = [
    { title: "Part", value: ({ name }) => name },
    badgeColumn({ title: "State", value: ({ status }) => status, tones: { ok: "good", down: "bad" } }),
    { title: "Detail", value: ({ detail }) => detail },
  ];
  return html`<details class="card">
    <summary>Health of each part (${parts.filter((part) => part.status !== "ok").length} down)</summary>
    <${Table} caption="Health of each part" columns=${columns} rows=${parts} idOf=${({ name }: Part) => name} />
  </details>`;
};

const ActivityPlots = ({ status }: { status: InstanceStatus }): VNode => {
  const { activity, asOf, startedAt } = status;
  const since = Math.max(Date.parse(startedAt), Date.parse(asOf) - 2 * dayMs);
  const note = `this instance from ${formatTime(since)} to ${formatTime(asOf)}`;
  const x = activity.map(({ from }) => Date.parse(from) / 1_000);
  const codes = new Map<string, number>();
  for (const { refused } of activity)
    for (const [code, count] of Object.entries(refused)) codes.set(code, (codes.get(code) ?? 0) + count);
  const rows = [...codes].sort(([, a], [, b]) => b - a);
  const series = sources.map(({ id }) => ({
    label: id,
    kind: "step" as const,
    values: activity.map(({ served }) => served[id].requests),
  }));
  return html`<div class="grid">
    ${
      x.length === 0
        ? html`<section class="card"><h2>Requests to this instance</h2><${Empty}>This instance has had no request in the last two days.<//></section>`
        : html`<${Plot} title="Requests to this instance, by where audio came from" x=${x} series=${series} isStacked asOf=${note} />`
    }
    <section class="card">
      <h2>Refusals by code, this instance alone</h2>
      <p class="as-of">${note}. Refusals are not recorded: each instance counts its own.</p>
      <${Table}
        caption="Refused and failed requests by error code"
        columns=${[
          { title: "Code", value: ([code]: [string, number]) => code },
          { title: "Requests", isNumber: true, value: ([, count]: [string, number]) => count },
        ]}
        rows=${rows}
        idOf=${([code]: [string, number]) => code}
        empty="No request was refused."
      />
    </section>
  </div>`;
};
