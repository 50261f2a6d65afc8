import type { VNode } from "preact";
import type { InstanceStatus } from "../../application/health/instance-status.ts";
import { Plot } from "../components/plot.ts";
import { Badge, Empty, Figure, Loaded } from "../components/status.ts";
import { Table } from "../components/table.ts";
import { dayMs, formatCount, formatMilliseconds, formatShare, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { useSession } from "../session.ts";
import { type DailyUsage, readDailyUsage, sumOf } from "../usage.ts";
import { useData } from "../use-data.ts";

/** Days in the plot, today included. */
const days = 31;

/** What the service does now: usage of all keys, and the state of the instance that answers. */
export const Overview = (): VNode => {
  const { api } = useSession();
  const status = useData((signal) => api.get<InstanceStatus>("admin/status", { signal }), []);
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const usage = useData(
    (signal) => readDailyUsage(api, { from: (today - (days - 1) * dayMs) / 1_000, groupBy: "model", signal }),
    [today],
  );
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
      ${(value: DailyUsage) => html`<${AllUsage} usage=${value} position=${status.value?.position} />`}
    <//>
    <${Loaded} data=${status}>
      ${(value: InstanceStatus) => html`<${ActivityPlots} status=${value} />`}
    <//>
  `;
};

const AllUsage = ({ usage, position }: { usage: DailyUsage; position?: number }): VNode => {
  const engines = [...usage.characters].sort(([a], [b]) => (a < b ? -1 : 1));
  const asOf = `as of ${formatTime(usage.asOf * 1_000)}${position === undefined ? "" : `, position ${formatCount(position)}`}`;
  const firstOfMonth = `${new Date(usage.asOf * 1_000).toISOString().slice(0, 7)}-01`;
  const monthBegins = usage.days.findIndex((day) => day * 1_000 >= Date.parse(firstOfMonth));
  const all = engines.map(([, values]) => values);
  const ofMonth = sumOf(all.map((values) => sumOf(values.slice(Math.max(0, monthBegins)))));
  return html`<div class="stack">
    <dl class="figures">
      <${Figure} name="Characters today (UTC)" value=${formatCount(sumOf(all.map((values) => values.at(-1) ?? 0)))} note=${asOf} />
      <${Figure} name="Characters this month" value=${formatCount(ofMonth)} note=${`since ${firstOfMonth}`} />
      <${Figure} name=${`Requests in ${days} days`} value=${formatCount(usage.requests)} note="all keys" />
    </dl>
    ${
      engines.length === 0
        ? html`<${Empty}>No characters were charged in the last ${days} days.<//>`
        : html`<${Plot}
            title="Daily characters by engine"
            x=${usage.days}
            series=${engines.map(([label, values]) => ({ label, values, kind: "step" as const }))}
            isStacked
            xTitle="Day (UTC)"
            formatX=${(day: number) => new Date(day * 1_000).toISOString().slice(0, 10)}
            asOf=${asOf}
          />`
    }
  </div>`;
};

const provenances = ["miss", "coalesced", "memory", "store"] as const;

const Instance = ({ status }: { status: InstanceStatus }): VNode => {
  const { health, projections, others, startedAt, position, asOf } = status;
  const hours = status.activity;
  const requests = sumOf(hours.flatMap(({ served }) => provenances.map((one) => served[one].requests)));
  const cached = requests - sumOf(hours.map(({ served }) => served.miss.requests));
  const tone = health.status === "ok" ? "good" : health.status === "degraded" ? "warn" : "bad";
  return html`<div class="stack">
    <dl class="figures">
      <${Figure} name="Health" value=${html`<${Badge} tone=${tone}>${health.status}<//>`} note=${`as of ${formatTime(asOf)}`} />
      <${Figure}
        name="Projections"
        value=${projections.live ? html`<${Badge} tone="good">live<//>` : html`<${Badge} tone="bad">down<//>`}
        note=${`lag ${formatMilliseconds(projections.lagMs)}, at position ${formatCount(position)}`}
      />
      <${Figure} name="Instances" value=${1 + others.length} note=${`this one since ${formatTime(startedAt)}`} />
      <${Figure} name="Served without synthesis" value=${formatShare(cached, requests)} note=${`of ${formatCount(requests)} requests to this instance`} />
    </dl>
    <${Parts} status=${status} />
  </div>`;
};

const Parts = ({ status }: { status: InstanceStatus }): VNode => {
  const parts = Object.entries(status.health.parts).map(([name, part]) => ({ name, ...part }));
  type Part = (typeof parts)[number];
  const columns = [
    { id: "name", title: "Part", value: ({ name }: Part) => name },
    {
      id: "status",
      title: "State",
      value: ({ status }: Part) => status,
      view: ({ status }: Part) => html`<${Badge} tone=${status === "ok" ? "good" : "bad"}>${status}<//>`,
    },
    { id: "detail", title: "Detail", value: ({ detail }: Part) => detail ?? "" },
  ];
  return html`<details class="card">
    <summary>Health of each part (${parts.filter((part) => part.status !== "ok").length} down)</summary>
    <${Table} caption="Health of each part" columns=${columns} rows=${parts} idOf=${({ name }: Part) => name} />
  </details>`;
};

const ActivityPlots = ({ status }: { status: InstanceStatus }): VNode => {
  const { activity, asOf } = status;
  const note = `as of ${formatTime(asOf)}, this instance`;
  const x = activity.map(({ from }) => Date.parse(from) / 1_000);
  const codes = new Map<string, number>();
  for (const { refused } of activity)
    for (const [code, count] of Object.entries(refused)) codes.set(code, (codes.get(code) ?? 0) + count);
  const rows = [...codes].sort(([, a], [, b]) => b - a);
  const series = provenances.map((one) => ({
    label: one,
    kind: "step" as const,
    values: activity.map(({ served }) => served[one].requests),
  }));
  return html`<div class="grid">
    ${
      x.length === 0
        ? html`<section class="card"><h2>Where audio came from</h2><${Empty}>This instance has answered no request in the last two days.<//></section>`
        : html`<${Plot} title="Where audio came from, by hour" x=${x} series=${series} isStacked asOf=${note} />`
    }
    <section class="card">
      <h2>Refusals by code</h2>
      <p class="as-of">${note}, last two days</p>
      <${Table}
        caption="Refused and failed requests by error code"
        columns=${[
          { id: "code", title: "Code", value: ([code]: [string, number]) => code },
          { id: "count", title: "Requests", isNumber: true, value: ([, count]: [string, number]) => count },
        ]}
        rows=${rows}
        idOf=${([code]: [string, number]) => code}
        empty="No request was refused."
      />
    </section>
  </div>`;
};
