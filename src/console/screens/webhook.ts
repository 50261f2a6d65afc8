import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { DeliveryDetails, WebhookDetails } from "../../application/webhooks/webhooks.ts";
import { Dialog } from "../components/dialog.ts";
import { type Listed, PageButtons, type Pages, usePages } from "../components/pages.ts";
import { FactList, Loaded } from "../components/status.ts";
import { badgeColumn, type Column, numberColumn, Table } from "../components/table.ts";
import { formatMilliseconds, formatTime } from "../format.ts";
import { html } from "../html.ts";
import type { ScreenProps } from "../routing.ts";
import { type Data, useGet } from "../use-data.ts";
import { WebhookActions } from "./webhook-actions.ts";
import { Scope, WebhookStatus } from "./webhooks.ts";

type DeliveryList = Listed & { readonly deliveries: readonly DeliveryDetails[] };

/** One webhook: what it receives, and its deliveries. */
export const Webhook = ({ params }: ScreenProps): VNode => {
  const { id = "" } = params;
  const path = `admin/webhooks/${encodeURIComponent(id)}`;
  const pages = usePages();
  const webhook = useGet<WebhookDetails>(path);
  const deliveries = useGet<DeliveryList>(`${path}/deliveries`, { limit: 50, after: pages.after });
  const reload = () => {
    webhook.reload();
    deliveries.reload();
  };
  return html`
    <h1>Webhook <code>${id}</code></h1>
    <${Loaded} data=${webhook} what="Reading the webhook">
      ${(value: WebhookDetails) => html`<div class="stack">
        <${Facts} webhook=${value} onChange=${reload} />
        <${Deliveries} data=${deliveries} pages=${pages} onReload=${reload} />
      </div>`}
    <//>
  `;
};

const Facts = ({ webhook, onChange }: { webhook: WebhookDetails; onChange: () => void }): VNode =>
  html`<section class="card stack">
    <h2>State</h2>
    <${FactList}
      facts=${[
        ["Address", webhook.url],
        ["Events", webhook.events.join(", ")],
        ["Keys", html`<${Scope} webhook=${webhook} />`],
        ["State", html`<${WebhookStatus} webhook=${webhook} />`],
        ["Added", formatTime(webhook.addedAt)],
      ]}
    />
    <${WebhookActions} webhook=${webhook} onChange=${onChange} />
  </section>`;

interface DeliveriesProps {
  readonly data: Data<DeliveryList>;
  readonly pages: Pages;
  readonly onReload: () => void;
}

const Deliveries = ({ data, pages, onReload }: DeliveriesProps): VNode => {
  const [shown, setShown] = useState<DeliveryDetails>();
  return html`<section class="stack">
    <div class="head">
      <h2>Deliveries</h2>
      <button type="button" onClick=${onReload}>Read again</button>
    </div>
    <${Loaded} data=${data} what="Reading the deliveries">
      ${(
        list: DeliveryList,
      ) => html`<${Table} caption="Messages in progress and the last 500 that have ended, newest first" columns=${deliveryColumns(setShown)} rows=${list.deliveries} idOf=${({ messageId }: DeliveryDetails) => messageId} empty="Nothing was sent to this webhook.">
        <${PageButtons} pages=${pages} listed=${list} />
      <//>`}
    <//>
    ${shown && html`<${Delivery} delivery=${shown} onClose=${() => setShown(undefined)} />`}
  </section>`;
};

type Attempt = DeliveryDetails["attempts"][number];

const outcomeOf = ({ status, error }: Attempt): string =>
  error ?? (status === undefined ? "none recorded" : `HTTP ${status}`);

const deliveryColumns = (onShow: (delivery: DeliveryDetails) => void): Column<DeliveryDetails>[] => [
  {
    title: "Message",
    value: ({ messageId }) => messageId,
    view: (delivery) =>
      html`<button type="button" class="quiet mono" onClick=${() => onShow(delivery)}>${delivery.messageId}</button>`,
  },
  { title: "Type", value: ({ type }) => type },
  badgeColumn({
    title: "State",
    value: ({ status }) => status,
    tones: { pending: "warn", succeeded: "good", failed: "bad" },
  }),
  { title: "Attempts", isNumber: true, value: ({ attempts }) => attempts.length },
  { title: "Last response", value: ({ attempts }) => attempts.slice(-1).map(outcomeOf).join() },
  { title: "Queued", value: ({ queuedAt }) => formatTime(queuedAt) },
  { title: "Next attempt", value: ({ nextAttemptAt }) => (nextAttemptAt ? formatTime(nextAttemptAt) : "") },
];

/** One message with each of its attempts. */
const Delivery = ({ delivery, onClose }: { delivery: DeliveryDetails; onClose: () => void }): VNode =>
  html`<${Dialog} title=${`Message of type ${delivery.type}`} onClose=${onClose}>
    <p class="as-of"><code>${delivery.messageId}</code>, queued ${formatTime(delivery.queuedAt)}</p>
    <${Table} caption="Attempts" columns=${attemptColumns} rows=${delivery.attempts} idOf=${({ attempt }: Attempt) => attempt} empty="It was not sent yet." />
    <h3>Data</h3>
    <pre tabindex="0" aria-label="Data of the message">${JSON.stringify(delivery.data, null, 2)}</pre>
    <div class="actions"><button type="button" onClick=${onClose}>Close</button></div>
  <//>`;

const attemptColumns: Column<Attempt>[] = [
  { title: "Attempt", isNumber: true, value: ({ attempt }) => attempt },
  { title: "Started", value: ({ startedAt }) => formatTime(startedAt) },
  numberColumn({
    title: "Took",
    value: ({ startedAt, endedAt }) => (endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : undefined),
    format: formatMilliseconds,
  }),
  { title: "Response", value: outcomeOf },
];
