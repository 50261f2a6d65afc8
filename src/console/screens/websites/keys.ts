import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails } from "../../../application/accounts/keys.ts";
import { Field, Search, valueIn } from "../../components/field.ts";
import { type Listed, PageButtons, type Pages, usePages } from "../../components/pages.ts";
import { Badge, Bar, Loaded } from "../../components/status.ts";
import { actionColumns, type Column, type Sort, Table } from "../../components/table.ts";
import { type DailyUsage, readDailyUsage, sumOf } from "../../daily-usage.ts";
import { dayMs, formatCount, formatQuota, formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo } from "../../routing.ts";
import { useSession } from "../../session.ts";
import { type Data, useData, useGet } from "../../use-data.ts";
import { KeyActions } from "./key-actions.ts";

type KeyList = Listed & { readonly keys: readonly KeyDetails[] };

const pageSize = 25;
const sparklineDays = 30;

/** All keys: searched, sorted and paged by the service. */
export const Keys = (): VNode => {
  const [search, setSearch] = useState("");
  const [status, setStatus] = useState("");
  const [sort, setSort] = useState<Sort>({ by: "issued", descending: false });
  const pages = usePages();
  const order = sort.descending ? "descending" : "ascending";
  const query = { search, status, sort: sort.by, order, limit: pageSize, after: pages.after };
  const data = useGet<KeyList>("admin/keys", query);
  const change =
    <T>(set: (value: T) => void) =>
    (value: T) => {
      pages.first();
      set(value);
    };
  return html`
    <h1>Keys</h1>
    <${Search} placeholder="key, website or plan" onSearch=${change(setSearch)}>
      <${Field} label="State" as="select" control=${{ onChange: (event: Event) => change(setStatus)(valueIn(event)) }}>
        <option value="">all</option>
        <option value="active">active</option>
        <option value="suspended">suspended</option>
      <//>
    <//>
    <${Loaded} data=${data} what="Reading the keys">
      ${(list: KeyList) => html`<${KeyTable} list=${list} sort=${sort} onSort=${change(setSort)} onChange=${data.reload} pages=${pages} />`}
    <//>
  `;
};

interface KeyTableProps {
  readonly list: KeyList;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onChange: () => void;
  readonly pages: Pages;
}

const KeyTable = ({ list, sort, onSort, onChange, pages }: KeyTableProps): VNode => {
  const { api } = useSession();
  const { keys } = list;
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const daily = useData(
    async (signal): Promise<DailyUsage | undefined> => {
      if (keys.length === 0) return undefined;
      const from = (today - (sparklineDays - 1) * dayMs) / 1_000;
      const apiKeys = keys.map(({ apiKey }) => apiKey);
      return await readDailyUsage(api, { from, apiKeys, signal });
    },
    [keys],
  );
  const position = keys[0]?.usage?.asOfPosition;
  return html`
    ${
      position !== undefined &&
      html`<p class="as-of">Characters of this month (UTC) as of position ${formatCount(position)}${
        daily.value && `, of the last ${sparklineDays} days as of ${formatTime(daily.value.asOf * 1_000)}`
      }.</p>`
    }
    <${Table}
      caption="Keys"
      columns=${columnsOf(daily, onChange)}
      rows=${keys}
      idOf=${({ apiKey }: KeyDetails) => apiKey}
      sort=${sort}
      onSort=${onSort}
      empty="No key matches."
    >
      <${PageButtons} pages=${pages} listed=${list} />
    <//>
  `;
};

export const Status = ({ keyDetails }: { keyDetails: KeyDetails }): VNode => {
  const { status, suspension } = keyDetails;
  if (!suspension) return html`<${Badge} tone="good">${status}<//>`;
  return html`<${Badge} tone="bad">suspended<//>
    <br /><small>${suspension.cause}: ${suspension.reason}, since ${formatTime(suspension.since)}</small>`;
};

export const UsageBar = ({ usage }: { usage: KeyDetails["usage"] }): VNode | string => {
  if (!usage) return "–";
  const label = `${formatCount(usage.characters)} of ${formatQuota(usage.quota)}`;
  return html`<${Bar} part=${usage.characters} total=${usage.quota ?? 0} label=${label} />`;
};

/** A small line without axes. Its label says the same in words. */
const Sparkline = ({ values, label }: { values: readonly number[]; label: string }): VNode => {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(23 - (22 * value) / top).toFixed(1)}`,
  );
  return html`<svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polyline points=${points.join(" ")} />
  </svg>`;
};

/** The service sorts keys by the time when they were issued. */
export const keyColumn: Column<KeyDetails> = {
  id: "issued",
  title: "Key",
  value: ({ apiKey }) => apiKey,
  view: ({ apiKey }) => html`<a class="mono" href=${linkTo(["keys", apiKey])}>${apiKey}</a>`,
};

export const planColumn: Column<KeyDetails> = { id: "plan", title: "Plan", value: ({ plan }) => plan.tier };

export const websiteColumn: Column<Pick<KeyDetails, "websiteId" | "websiteName">> = {
  id: "website",
  title: "Website",
  value: ({ websiteName, websiteId }) => websiteName ?? websiteId,
  view: ({ websiteName, websiteId }) =>
    html`<a href=${linkTo(["websites", websiteId])}>${websiteName ?? websiteId}</a>`,
};

const columnsOf = (daily: Data<DailyUsage | undefined>, onChange: () => void): Column<KeyDetails>[] => [
  keyColumn,
  websiteColumn,
  planColumn,
  {
    id: "usage",
    title: "Characters of quota",
    isNumber: true,
    value: ({ usage }) => usage?.characters,
    view: ({ usage }) => html`<${UsageBar} usage=${usage} />`,
  },
  {
    id: "daily",
    title: `${sparklineDays} days`,
    isSortable: false,
    value: ({ apiKey }) => sumOf(daily.value?.characters.get(apiKey) ?? []),
    view: ({ apiKey }) => {
      const values = daily.value?.characters.get(apiKey) ?? [];
      const sum = formatCount(sumOf(values));
      return html`<${Sparkline} values=${values} label=${`${sum} characters in ${sparklineDays} days`} />`;
    },
  },
  {
    id: "status",
    title: "State",
    value: ({ status, suspension }) => (suspension ? `${status}: ${suspension.reason}` : status),
    view: (row) => html`<${Status} keyDetails=${row} />`,
  },
  ...actionColumns<KeyDetails>(true, (row) => html`<${KeyActions} keyDetails=${row} onChange=${onChange} />`),
];
