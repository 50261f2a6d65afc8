import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { KeyMonth } from "../../domain/ledger/proof/key-month-verifier.ts";
import type { UsageReport } from "../../ledger/reports/usage-report.ts";
import { type Api, chunksOf } from "../api.ts";
import { Field, fieldsOf } from "../components/field.ts";
import { Plot } from "../components/plot.ts";
import { Badge, Figure } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { TaskView, useTask } from "../components/task.ts";
import { formatBytes, formatCount, formatTime, monthAt } from "../format.ts";
import { html } from "../html.ts";
import { type Verdict, verify } from "../proof/verify.ts";
import { changeQuery, type ScreenProps } from "../routing.ts";
import { useSession } from "../session.ts";

type StreamCount = readonly [stream: string, events: number];

const streamColumns: readonly Column<StreamCount>[] = [
  {
    title: "Stream",
    value: ([stream]) => stream,
    view: ([stream]) => html`<span class="mono">${stream}</span>`,
  },
  { title: "Verified events", isNumber: true, value: ([, events]) => events },
];

interface Outcome {
  readonly keyMonth: KeyMonth;
  readonly verdict: Verdict;
  /** The service's report as of the sealed position. */
  readonly report?: UsageReport;
}

/** Verifies a key's month in the browser, with the rules of the service. */
export const Proof = ({ route }: ScreenProps): VNode => {
  const { api } = useSession();
  const task = useTask<Outcome>();
  const apiKey = route.query.get("key") ?? "";
  const month = route.query.get("month") ?? monthAt(Date.now());
  const start = () =>
    apiKey && task.run((signal, onProgress) => prove(api, { apiKey, month }, signal, onProgress));
  useEffect(() => void start(), [apiKey, month]);
  const submit = (event: SubmitEvent) => {
    const { key = "", month: chosen = "" } = fieldsOf(event);
    if (key === apiKey && chosen === month) start();
    else changeQuery(route, { key, month: chosen });
  };
  return html`<h1>Proof</h1>
    <p>The browser fetches the events of a key's month and applies the rules of the ledger to them: the chain of digests, postings and
      balances, the quota, and the seal, whose signature it verifies with the public key in${" "}
      <a href="../.well-known/voxledger-seal.pub">voxledger-seal.pub</a>.</p>
    <form class="filters" onSubmit=${submit}>
      <${Field} label="Key" control=${{ name: "key", defaultValue: apiKey, required: true, spellcheck: false }} />
      <${Field} label="Month (UTC)" control=${{ name: "month", type: "month", defaultValue: month, required: true }} />
      <button type="submit" class="primary">Verify</button>
    </form>
    <${TaskView} task=${task} what="Verifying">${(outcome: Outcome) => html`<${Result} outcome=${outcome} />`}<//>`;
};

const prove = async (
  api: Api,
  keyMonth: KeyMonth,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<Outcome> => {
  const { apiKey, month } = keyMonth;
  const verifierKeys = await (await api.open(".well-known/voxledger-seal.pub", { signal })).text();
  const path = `admin/keys/${encodeURIComponent(apiKey)}`;
  const response = await api.open(`${path}/proof`, { query: { month }, signal });
  const verdict = await verify({
    ...keyMonth,
    verifierKeys,
    chunks: chunksOf(response),
    onProgress: ({ bytes, streams }) => {
      const events = [...streams.values()].reduce((sum, count) => sum + count, 0);
      onProgress(`${formatCount(events)} events, ${formatBytes(bytes)}`);
    },
  });
  signal.throwIfAborted();
  if (verdict.status !== "genuine") return { keyMonth, verdict };
  const asOfPosition = verdict.summary.sealed.position;
  const report = await api.get<UsageReport>(`${path}/usage`, { query: { month, asOfPosition }, signal });
  return { keyMonth, verdict, report };
};

const Result = ({ outcome: { keyMonth, verdict, report } }: { outcome: Outcome }): VNode => {
  if (verdict.status === "not genuine") {
    return html`<div class="verdict bad" role="alert">
      <h2>Not genuine</h2>
      <p>First bad event: <span class="mono">${verdict.problem}</span></p>
    </div>`;
  }
  const { summary, isSigned } = verdict;
  const { sealed, characters, requests, voided, streams, events, isClosed, remarks } = summary;
  const isReported = report?.characters === characters && report.requests === requests;
  const asOf = `as of position ${formatCount(sealed.position)}`;
  const names = [...streams.keys()].map(shortName);
  return html`<div class="stack"><div class=${`verdict ${isSigned && isReported && remarks.length === 0 ? "good" : "warn"}`} role="status">
      <h2>${isSigned ? "Genuine" : "Consistent, but not verified"}${remarks.length > 0 && ", with remarks"}</h2>
      <p>${formatCount(events)} events of ${keyMonth.apiKey} in ${keyMonth.month}, ${asOf}, sealed ${formatTime(sealed.at)}.</p>
      ${remarks.map((remark) => html`<p>Remark: ${remark}.</p>`)}
      ${
        !isSigned &&
        html`<p>This browser has no Ed25519, so the signatures were not verified. Use another browser, or
        <code>voxledger audit verify</code>.</p>`
      }
      ${
        !isReported &&
        html`<p>The service reports other totals: ${formatCount(report?.characters ?? 0)} characters,
        ${formatCount(report?.requests ?? 0)} requests.</p>`
      }
    </div>
    <dl class="figures">
      <${Figure} name="Characters" value=${formatCount(characters)} note=${asOf} />
      <${Figure} name="Requests" value=${formatCount(requests)} note=${asOf} />
      <${Figure} name="Voided characters" value=${formatCount(voided.characters)} note=${asOf} />
      <${Figure} name="Month" value=${html`<${Badge}>${isClosed ? "closed" : "open"}<//>`} note=${asOf} />
    </dl>
    <${Plot} title="Events by stream" asOf=${asOf} isTime=${false} xTitle="Stream"
      x=${[...names.keys()]} formatX=${(index: number) => names[index] ?? ""}
      series=${[{ label: "Verified events", kind: "bars", values: [...streams.values()] }]} />
    <${Table} caption="Streams" columns=${streamColumns} rows=${[...streams]} idOf=${([stream]: StreamCount) => stream} />
    <details>
      <summary>Show the signed checkpoint of seal ${formatCount(sealed.seal)}</summary>
      <p>Keep it: a later log that does not contain it was rewritten (<code>voxledger audit verify --seal</code>).</p>
      <pre tabindex="0">${sealed.note}</pre>
    </details></div>`;
};

/** Names the streams of the key by their kinds, and journals by the beginnings of their ids. */
const shortName = (stream: string): string =>
  stream.startsWith("journal-") ? stream.slice(0, "journal-".length + 8) : stream.replace(/-.*/, "");
