import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails } from "../../../application/accounts/keys.ts";
import type { AuditEntry } from "../../../ledger/audit/audit-entries.ts";
import type { UsageReport } from "../../../ledger/reports/usage-report.ts";
import { Confirm } from "../../components/dialog.ts";
import { Field, valueIn } from "../../components/field.ts";
import { type Listed, PageButtons, usePages } from "../../components/pages.ts";
import { Plot } from "../../components/plot.ts";
import { FactList, Figure, Loaded } from "../../components/status.ts";
import { actionColumns, type Column, numberColumn, Table } from "../../components/table.ts";
import { formatCount, formatDay, formatQuota, formatTime, monthAt } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo, type ScreenProps } from "../../routing.ts";
import { useChange, useMayChange, useSession } from "../../session.ts";
import { useData, useGet } from "../../use-data.ts";
import { KeyActions } from "./key-actions.ts";
import { Status } from "./keys.ts";
import { quotaCurve } from "./quota-curve.ts";

/** One key: its usage, and what happened to it. */
export const Key = ({ params }: ScreenProps): VNode => {
  const { apiKey = "" } = params;
  const [month, setMonth] = useState(monthAt(Date.now()));
  const path = `admin/keys/${encodeURIComponent(apiKey)}`;
  const key = useGet<KeyDetails>(path);
  const usage = useGet<UsageReport>(`${path}/usage`, { month });
  const reload = () => {
    key.reload();
    usage.reload();
  };
  const changeMonth = (event: Event) => {
    if (/^\d{4}-\d\d$/.test(valueIn(event))) setMonth(valueIn(event));
  };
  return html`
    <h1>Key <code>${apiKey}</code></h1>
    <${Loaded} data=${key} what="Reading the key">
      ${(value: KeyDetails) => html`<${Facts} keyDetails=${value} onChange=${reload} />`}
    <//>
    <div class="filters">
      <${Field} label="Month (UTC)" control=${{ type: "month", value: month, onChange: changeMonth }} />
    </div>
    <${Loaded} data=${usage} what="Reading the month">
      ${(value: UsageReport) => html`<${MonthUsage} report=${value} />`}
    <//>
    <${Loaded} data=${key}>
      ${(value: KeyDetails) => html`<${History} path=${path} keyDetails=${value} />`}
    <//>
  `;
};

interface KeyProps {
  readonly keyDetails: KeyDetails;
  readonly onChange: () => void;
}

const Facts = ({ keyDetails, onChange }: KeyProps): VNode => {
  const { websiteId, websiteName, plan, issuedAt } = keyDetails;
  const limits = `${formatQuota(plan.monthlyCharacters)} characters a month, ${formatCount(plan.requestsPerMinute)} requests a minute`;
  const facts = [
    ["Website", html`<a href=${linkTo(["websites", websiteId])}>${websiteName ?? websiteId}</a>`],
    ["State", html`<${Status} keyDetails=${keyDetails} />`],
    ["Plan", `${plan.tier}: ${limits}`],
    ["Issued", formatTime(issuedAt)],
  ];
  return html`<div class="grid">
    <section class="card stack">
      <h2>State</h2>
      <${FactList} facts=${facts} />
      <${KeyActions} keyDetails=${keyDetails} onChange=${onChange} />
    </section>
    <section class="card stack">
      <h2>Secrets</h2>
      <${Secrets} keyDetails=${keyDetails} onChange=${onChange} />
    </section>
  </div>`;
};

type Secret = KeyDetails["secrets"][number];

const Secrets = ({ keyDetails: { apiKey, secrets }, onChange }: KeyProps): VNode => {
  const mayChange = useMayChange();
  const { notify, send } = useChange(onChange);
  const [revoked, setRevoked] = useState<Secret>();
  const revoke = async () => {
    const secret = encodeURIComponent(revoked?.secretId ?? "");
    await send("DELETE", `admin/keys/${encodeURIComponent(apiKey)}/secrets/${secret}`);
    notify({ text: `Revoked the secret ${revoked?.secretId}.` });
  };
  const columns: Column<Secret>[] = [
    { title: "Secret", value: ({ secretId }) => secretId },
    { title: "Created", value: ({ createdAt }) => formatTime(createdAt) },
    ...actionColumns<Secret>(
      mayChange,
      (secret) =>
        html`<button type="button" class="quiet danger" onClick=${() => setRevoked(secret)}>Revoke…</button>`,
    ),
  ];
  return html`
    <${Table} caption="Valid secrets; their values are not stored" columns=${columns} rows=${secrets} idOf=${({ secretId }: Secret) => secretId} empty="The key has no secret." />
    ${
      revoked &&
      html`<${Confirm} title="Revoke this secret?" action="Revoke" isDangerous onConfirm=${revoke} onClose=${() => setRevoked(undefined)}>
        <p>Requests with the secret <code>${revoked.secretId}</code> are refused at once. This cannot be undone.</p>
      <//>`
    }
  `;
};

const MonthUsage = ({ report }: { report: UsageReport }): VNode => {
  const curve = quotaCurve(report);
  const asOf = `as of position ${formatCount(report.asOfPosition)}`;
  const exceeds = report.quota != null && curve.expected !== undefined && curve.expected > report.quota;
  return html`<div class="stack">
    <dl class="figures">
      <${Figure} name="Characters" value=${formatCount(report.characters)} note=${`${asOf}, ${formatTime(report.asOf)}`} />
      <${Figure} name="Requests" value=${formatCount(report.requests)} note=${`${formatCount(report.voided.requests)} voided`} />
      <${Figure} name="Quota" value=${formatQuota(report.quota)} note="of the month" />
      ${
        curve.expected !== undefined &&
        html`<${Figure} name="Forecast to the month's end" value=${formatCount(curve.expected)} note=${exceeds ? "exceeds the quota" : "at the pace of the month so far"} />`
      }
    </dl>
    <${Plot}
      title="Characters added up, and the quota as it was"
      x=${curve.x}
      series=${[
        { label: "used", values: curve.used, kind: "area" as const },
        { label: "quota", values: curve.quota, kind: "step" as const, color: "var(--bad)" },
        { label: "forecast", values: curve.forecast, isDashed: true },
      ]}
      asOf=${asOf}
    />
    <div class="grid">
      <${Plot}
        title="Characters by day"
        x=${report.byDay.map(({ day }) => Date.parse(day) / 1_000)}
        series=${[{ label: "characters", values: report.byDay.map(({ characters }) => characters), kind: "bars" as const }]}
        formatX=${(day: number) => formatDay(day * 1_000)}
        xTitle="Day (UTC)"
        asOf=${asOf}
      />
      <div class="stack">
        <${Shares} heading="Engine" asOf=${asOf} rows=${report.byEngine.map(({ engine, ...row }) => ({ name: engine, ...row }))} />
        <${Shares} heading="Voice" asOf=${asOf} rows=${report.byVoice.map(({ voice, ...row }) => ({ name: voice, ...row }))} />
      </div>
    </div>
  </div>`;
};

interface Share {
  readonly name: string;
  readonly requests: number;
  readonly characters: number;
}

interface SharesProps {
  /** The heading of the rows: `Engine`. */
  readonly heading: string;
  readonly asOf: string;
  readonly rows: readonly Share[];
}

const Shares = ({ heading, asOf, rows }: SharesProps): VNode =>
  html`<${Table}
    caption=${`By ${heading.toLowerCase()}, ${asOf}`}
    columns=${[
      { title: heading, value: ({ name }: Share) => name },
      numberColumn({ title: "Characters", value: ({ characters }: Share) => characters }),
      numberColumn({ title: "Requests", value: ({ requests }: Share) => requests }),
    ]}
    rows=${rows}
    idOf=${({ name }: Share) => name}
    initialSort=${{ by: "Characters", descending: true }}
    pageSize=${10}
  />`;

const historyColumns: readonly Column<AuditEntry>[] = [
  { title: "Position", isNumber: true, isSortable: false, value: ({ position }) => position },
  { title: "Time", isSortable: false, value: ({ at }) => formatTime(at) },
  { title: "Event", isSortable: false, value: ({ type }) => type },
  { title: "What", isSortable: false, value: ({ data }) => whatOf(data) },
  { title: "By", isSortable: false, value: ({ metadata }) => metadata.actor },
];

type HistoryPage = Listed & { readonly events: readonly AuditEntry[] };

/** The history of the key, the latest events first. It is read again whenever the key is. */
const History = ({ path, keyDetails }: { path: string; keyDetails: KeyDetails }): VNode => {
  const { api } = useSession();
  const pages = usePages();
  const { after } = pages;
  const data = useData(
    (signal) =>
      api.get<HistoryPage>(`${path}/history`, { query: { order: "descending", limit: 20, after }, signal }),
    [keyDetails, after],
  );
  return html`<section class="stack">
    <h2>History</h2>
    <${Loaded} data=${data} what="Reading the history">
      ${(page: HistoryPage) => html`<${Table}
        caption="Plans, suspensions and secrets of the key"
        columns=${historyColumns}
        rows=${page.events}
        idOf=${({ revision }: AuditEntry) => revision}
      >
        <${PageButtons} pages=${pages} listed=${page} />
      <//>`}
    <//>
  </section>`;
};

const whatOf = (data: object): string => {
  const { plan, cause, reason, secretId } = data as Partial<Pick<KeyDetails, "plan">> &
    Partial<Record<"cause" | "reason" | "secretId", string>>;
  if (plan) return `${plan.tier}, ${formatQuota(plan.monthlyCharacters)} characters a month`;
  if (reason !== undefined) return cause === undefined ? reason : `${cause}: ${reason}`;
  return secretId ?? "";
};
