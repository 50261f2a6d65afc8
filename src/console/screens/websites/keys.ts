import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails } from "../../../application/accounts/keys.ts";
import { Field } from "../../components/field.ts";
import { type Listed, PageButtons, usePages } from "../../components/pages.ts";
import { Sparkline } from "../../components/sparkline.ts";
import { Badge, Bar, Loaded } from "../../components/status.ts";
import { type Column, type Sort, Table } from "../../components/table.ts";
import { dayMs, formatCount, formatQuota, formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo } from "../../routing.ts";
import { useSession } from "../../session.ts";
import { type DailyUsage, readDailyUsage, sumOf } from "../../usage.ts";
import { type Data, useData } from "../../use-data.ts";
import { KeyActions } from "./key-actions.ts";

interface KeyList extends Listed {
  readonly keys: readonly KeyDetails[];
}

const pageSize = 25;
const sparklineDays = 30;

/** All keys: searched, sorted and paged by the service. */
export const Keys = (): VNode => {
  const { api } = useSession();
  const [search, setSearch] = useState("");
  const [status, setStatus] = useState("");
  const [sort, setSort] = useState<Sort>({ by: "issued", descending: false });
  const pages = usePages();
  const { after } = pages;
  const data = useData(
    (signal) => {
      const order = sort.descending ? "descending" : "ascending";
      const query = { search, status, sort: sort.by, order, limit: pageSize, after };
      return api.get<KeyList>("admin/keys", { query, signal });
    },
    [search, status, sort, after],
  );
  const change =
    <T>(set: (value: T) => void) =>
    (value: T) => {
      pages.first();
      set(value);
    };
  return html`
    <h1>Keys</h1>
    <${Filters} onSearch=${change(setSearch)} onStatus=${change(setStatus)} />
    <${Loaded} data=${data} what="Reading the keys">
      ${(list: KeyList) => html`<${KeyTable} list=${list} sort=${sort} onSort=${change(setSort)} onChange=${data.reload} pages=${pages} />`}
    <//>
  `;
};

const Filters = ({
  onSearch,
  onStatus,
}: {
  onSearch: (text: string) => void;
  onStatus: (status: string) => void;
}): VNode => {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSearch(String(new FormData(event.currentTarget as HTMLFormElement).get("search")));
  };
  return html`<form class="filters" role="search" onSubmit=${submit}>
    <${Field} label="Search" control=${{ name: "search", type: "search", placeholder: "key, website or plan" }} />
    <button type="submit">Search</button>
    <${Field} label="State" as="select" control=${{ onChange: (event: Event) => onStatus((event.currentTarget as HTMLSelectElement).value) }}>
      <option value="">all</option>
      <option value="active">active</option>
      <option value="suspended">suspended</option>
    <//>
  </form>`;
};

interface KeyTableProps {
  readonly list: KeyList;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onChange: () => void;
  readonly pages: ReturnType<typeof usePages>;
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

const columnsOf = (daily: Data<DailyUsage | undefined>, onChange: () => void): Column<KeyDetails>[] => [
  {
    id: "issued",
    title: "Key",
    value: ({ apiKey }) => apiKey,
    view: ({ apiKey }) => html`<a class="mono" href=${linkTo(["keys", apiKey])}>${apiKey}</a>`,
  },
  {
    id: "website",
    title: "Website",
    value: ({ websiteName, websiteId }) => websiteName ?? websiteId,
    view: ({ websiteName, websiteId }) =>
      html`<a href=${linkTo(["websites", websiteId])}>${websiteName ?? websiteId}</a>`,
  },
  { id: "plan", title: "Plan", value: ({ plan }) => plan.tier },
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
  {
    id: "actions",
    title: "Actions",
    isSortable: false,
    value: () => "",
    view: (row) => html`<${KeyActions} keyDetails=${row} onChange=${onChange} />`,
  },
];
