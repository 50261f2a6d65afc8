import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails } from "../../../application/accounts/keys.ts";
import type { AuditEntry } from "../../../application/usage/audit-entries.ts";
import type { UsageReport } from "../../../application/usage/usage-report.ts";
import { Confirm } from "../../components/dialog.ts";
import { Field } from "../../components/field.ts";
import { type Listed, PageButtons, usePages } from "../../components/pages.ts";
import { Plot } from "../../components/plot.ts";
import { Figure, Loaded } from "../../components/status.ts";
import { type Column, Table } from "../../components/table.ts";
import { formatCount, formatQuota, formatTime, monthAt } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo } from "../../routing.ts";
import type { ScreenProps } from "../../screen-props.ts";
import { useMayChange, useSession } from "../../session.ts";
import { useData } from "../../use-data.ts";
import { KeyActions } from "./key-actions.ts";
import { Status } from "./keys.ts";
import { quotaCurve } from "./quota-curve.ts";

/** One key: its usage, and what happened to it. */
export const Key = ({ params }: ScreenProps): VNode => {
  const { apiKey = "" } = params;
  const { api } = useSession();
  const [month, setMonth] = useState(monthAt(Date.now()));
  const path = `admin/keys/${encodeURIComponent(apiKey)}`;
  const key = useData((signal) => api.get<KeyDetails>(path, { signal }), [apiKey]);
  const usage = useData(
    (signal) => api.get<UsageReport>(`${path}/usage`, { query: { month }, signal }),
    [apiKey, month],
  );
  const reload = () => {
    key.reload();
    usage.reload();
  };
  const changeMonth = (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    if (/^\d{4}-\d\d$/.test(value)) setMonth(value);
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

const Facts = ({ keyDetails, onChange }: { keyDetails: KeyDetails; onChange: () => void }): VNode => {
  const { websiteId, websiteName, plan, issuedAt, secrets } = keyDetails;
  return html`<div class="grid">
    <section class="card stack">
      <h2>State</h2>
      <dl class="facts">
        <dt>Website</dt>
        <dd><a href=${linkTo(["websites", websiteId])}>${websiteName ?? websiteId}</a></dd>
        <dt>State</dt>
        <dd><${Status} keyDetails=${keyDetails} /></dd>
        <dt>Plan</dt>
        <dd>${plan.tier}: ${formatQuota(plan.monthlyCharacters)} characters a month, ${formatCount(plan.requestsPerMinute)} requests a minute</dd>
        <dt>Issued</dt>
        <dd>${formatTime(issuedAt)}</dd>
      </dl>
      <${KeyActions} keyDetails=${keyDetails} onChange=${onChange} />
    </section>
    <section class="card stack">
      <h2>Secrets</h2>
      <${Secrets} keyDetails=${keyDetails} secrets=${secrets} onChange=${onChange} />
    </section>
  </div>`;
};

type Secret = KeyDetails["secrets"][number];

const Secrets = ({
  keyDetails,
  secrets,
  onChange,
}: {
  keyDetails: KeyDetails;
  secrets: readonly Secret[];
  onChange: () => void;
}): VNode => {
  const { api, notify } = useSession();
  const mayChange = useMayChange();
  const [revoked, setRevoked] = useState<Secret | undefined>();
  const revoke = async () => {
    const path = `admin/keys/${encodeURIComponent(keyDetails.apiKey)}/secrets/${encodeURIComponent(revoked?.secretId ?? "")}`;
    await api.send("DELETE", path);
    onChange();
    notify({ text: `Revoked the secret ${revoked?.secretId}.` });
  };
  const columns = [
    { id: "id", title: "Secret", value: ({ secretId }: Secret) => secretId },
    { id: "created", title: "Created", value: ({ createdAt }: Secret) => formatTime(createdAt) },
    ...(mayChange
      ? [
          {
            id: "revoke",
            title: "Actions",
            isSortable: false,
            value: () => "",
            view: (secret: Secret) =>
              html`<button type="button" class="quiet danger" onClick=${() => setRevoked(secret)}>Revoke…</button>`,
          },
        ]
      : []),
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
        formatX=${(day: number) => new Date(day * 1_000).toISOString().slice(0, 10)}
        xTitle="Day (UTC)"
        asOf=${asOf}
      />
      <div class="stack">
        <${Shares} title="By engine" heading="Engine" asOf=${asOf} rows=${report.byEngine.map(({ engine, ...row }) => ({ name: engine, ...row }))} />
        <${Shares} title="By voice" heading="Voice" asOf=${asOf} rows=${report.byVoice.map(({ voice, ...row }) => ({ name: voice, ...row }))} />
      </div>
    </div>
  </div>`;
};

interface Share {
  readonly name: string;
  readonly requests: number;
  readonly characters: number;
}

const Shares = ({
  title,
  heading,
  asOf,
  rows,
}: {
  title: string;
  heading: string;
  asOf: string;
  rows: readonly Share[];
}): VNode =>
  html`<${Table}
    caption=${`${title}, ${asOf}`}
    columns=${[
      { id: "name", title: heading, value: ({ name }: Share) => name },
      {
        id: "characters",
        title: "Characters",
        isNumber: true,
        value: ({ characters }: Share) => characters,
        view: ({ characters }: Share) => formatCount(characters),
      },
      {
        id: "requests",
        title: "Requests",
        isNumber: true,
        value: ({ requests }: Share) => requests,
        view: ({ requests }: Share) => formatCount(requests),
      },
    ]}
    rows=${rows}
    idOf=${({ name }: Share) => name}
    initialSort=${{ by: "characters", descending: true }}
    pageSize=${10}
  />`;

const historyColumns: readonly Column<AuditEntry>[] = [
  {
    id: "position",
    title: "Position",
    isNumber: true,
    isSortable: false,
    value: ({ position }) => position,
  },
  { id: "at", title: "Time", isSortable: false, value: ({ at }) => formatTime(at) },
  { id: "type", title: "Event", isSortable: false, value: ({ type }) => type },
  { id: "what", title: "What", isSortable: false, value: ({ data }) => whatOf(data) },
  { id: "actor", title: "By", isSortable: false, value: ({ metadata }) => metadata.actor },
];

interface HistoryPage extends Listed {
  readonly events: readonly AuditEntry[];
}

/** The latest events first. It is read again with the key. */
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
  const { plan, cause, reason, secretId } = data as Partial<{
    plan: KeyDetails["plan"];
    cause: string;
    reason: string;
    secretId: string;
  }>;
  if (plan) return `${plan.tier}, ${formatQuota(plan.monthlyCharacters)} characters a month`;
  if (reason !== undefined) return cause === undefined ? reason : `${cause}: ${reason}`;
  return secretId ?? "";
};
