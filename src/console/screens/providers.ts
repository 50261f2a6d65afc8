import type { VNode } from "preact";
import type { WebsiteCredentials } from "../../application/accounts/credentials.ts";
import type { ProviderStatus } from "../../application/health/instance-status.ts";
import type { ProviderActivity } from "../../application/health/provider-activity.ts";
import { type Listed, PageButtons, usePages } from "../components/pages.ts";
import { Plot } from "../components/plot.ts";
import { Empty, Loaded } from "../components/status.ts";
import { badgeColumn, type Column, numberColumn, Table } from "../components/table.ts";
import { formatMilliseconds, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { linkTo } from "../routing.ts";
import { useGet } from "../use-data.ts";
import { websiteColumn } from "./websites/keys.ts";

/**
 * The speech providers as the instance that responds sees them, and the accounts of websites with
 * them.
 */
export const Providers = (): VNode => {
  const data = useGet<ProviderStatus>("admin/providers");
  return html`
    <div class="head">
      <h1>Providers</h1>
      <button type="button" onClick=${data.reload}>Read again</button>
    </div>
    <${Loaded} data=${data} what="Reading the providers">
      ${(status: ProviderStatus) => html`<${ProviderTables} status=${status} />`}
    <//>
    <${Accounts} />
  `;
};

type Resource = ProviderStatus["resources"][number];

const ProviderTables = ({ status }: { status: ProviderStatus }): VNode => {
  const { providers, resources, asOf } = status;
  const changed = providers.filter(({ changes }) => changes.length > 0);
  return html`<div class="stack">
    <p class="as-of">Instance ${status.instance}, as of ${formatTime(asOf)}, since its start.</p>
    <${Table}
      caption="Circuit breakers, errors and latency of providers that were used"
      columns=${providerColumns}
      rows=${providers}
      idOf=${nameOf}
      empty="No provider was used since this instance started."
    />
    <${Table}
      caption="Queues of the resources that syntheses share"
      columns=${resourceColumns}
      rows=${resources}
      idOf=${({ resource }: Resource) => resource}
    />
    ${
      changed.length === 0
        ? html`<section class="card"><h2>Timeline of circuit breakers</h2><${Empty}>No circuit breaker has changed since this instance started.<//></section>`
        : changed.map(
            (provider) => html`<${Timeline} key=${nameOf(provider)} provider=${provider} asOf=${asOf} />`,
          )
    }
  </div>`;
};

const resourceColumns: Column<Resource>[] = [
  { title: "Resource", value: ({ resource }) => resource },
  { title: "Running", isNumber: true, value: ({ running }) => running },
  { title: "Waiting", isNumber: true, value: ({ queued }) => queued },
  {
    title: "Longest wait",
    isNumber: true,
    value: ({ oldestWaitMs }) => Math.round(oldestWaitMs),
    view: ({ oldestWaitMs }) => formatMilliseconds(oldestWaitMs),
  },
  { title: "Refused", isNumber: true, value: ({ refused }) => refused },
  badgeColumn({
    title: "State",
    value: ({ isFull, isSlow }) => (isFull ? "full" : isSlow ? "slow" : "accepts"),
    tones: { full: "bad", slow: "warn", accepts: "good" },
  }),
];

const nameOf = ({ engine, websiteId }: ProviderActivity): string =>
  websiteId ? `${engine} of ${websiteId}` : engine;

const Timeline = ({ provider, asOf }: { provider: ProviderActivity; asOf: string }): VNode => {
  const times = [...provider.changes.map(({ at }) => Date.parse(at)), Date.parse(asOf)];
  const states = [...provider.changes.map(({ circuit }) => circuit), provider.circuit];
  return html`<${Plot}
    title=${`Circuit of ${nameOf(provider)}`}
    x=${times.map((time) => time / 1_000)}
    series=${[{ label: "open (1) or closed (0)", values: states.map((state) => Number(state === "open")), kind: "step" as const, color: "var(--bad)" }]}
    formatY=${(value: number) => (value === 1 ? "open" : "closed")}
    asOf=${`as of ${formatTime(asOf)}`}
    height=${120}
  />`;
};

const providerColumns: Column<ProviderActivity>[] = [
  { title: "Engine", value: ({ engine }) => engine },
  {
    title: "Website",
    value: ({ websiteId }) => websiteId ?? "",
    view: ({ websiteId }) =>
      websiteId ? html`<a href=${linkTo(["websites", websiteId])}>${websiteId}</a>` : "the operator's",
  },
  badgeColumn({ title: "Circuit", value: ({ circuit }) => circuit, tones: { closed: "good", open: "bad" } }),
  numberColumn({ title: "Requests", value: ({ requests }) => requests }),
  { title: "Retries", isNumber: true, value: ({ retries }) => retries },
  { title: "Errors", isNumber: true, value: ({ errors }) => errors },
  {
    title: "Mean latency",
    isNumber: true,
    value: ({ latency }) => latency?.mean,
    view: ({ latency }) =>
      latency ? `${formatMilliseconds(latency.mean)} (longest ${formatMilliseconds(latency.longest)})` : "–",
  },
  {
    title: "Last error",
    value: ({ lastError }) => (lastError ? `${lastError.what}, ${formatTime(lastError.at)}` : "none"),
  },
];

type CredentialsList = Listed & { readonly credentials: readonly WebsiteCredentials[] };

/** The provider accounts of websites; never their credentials. */
const Accounts = (): VNode => {
  const pages = usePages();
  const data = useGet<CredentialsList>("admin/credentials", { limit: 25, after: pages.after });
  return html`<section class="stack">
    <h2>Accounts of websites</h2>
    <${Loaded} data=${data} what="Reading the accounts">
      ${(
        list: CredentialsList,
      ) => html`<${Table} caption="Provider accounts of websites" columns=${accountColumns} rows=${list.credentials} idOf=${({ websiteId, engine }: WebsiteCredentials) => `${websiteId}/${engine}`} empty="No website has an account with a provider.">
        <${PageButtons} pages=${pages} listed=${list} />
      <//>`}
    <//>
  </section>`;
};

const accountColumns: Column<WebsiteCredentials>[] = [
  websiteColumn,
  { title: "Engine", value: ({ engine }) => engine },
  { title: "Provider", value: ({ provider }) => provider },
  { title: "Voices", isNumber: true, value: ({ voices }) => voices },
  { title: "Set", value: ({ setAt }) => formatTime(setAt) },
  { title: "Note", value: ({ retirement }) => retirement?.message ?? "" },
];
