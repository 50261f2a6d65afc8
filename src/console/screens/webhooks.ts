import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { WebhookDetails } from "../../application/webhooks/webhooks.ts";
import { Badge, Loaded } from "../components/status.ts";
import { type Column, Table } from "../components/table.ts";
import { formatTime } from "../format.ts";
import { html } from "../html.ts";
import { linkTo } from "../routing.ts";
import { useMayChange } from "../session.ts";
import { useGet } from "../use-data.ts";
import { AddWebhook } from "./webhook-actions.ts";

/** All webhooks, and a button to add one. */
export const Webhooks = (): VNode => {
  const mayChange = useMayChange();
  const [isAdding, setAdding] = useState(false);
  const data = useGet<{ webhooks: WebhookDetails[] }>("admin/webhooks");
  return html`
    <div class="head">
      <h1>Webhooks</h1>
      ${mayChange && html`<button type="button" onClick=${() => setAdding(true)}>Add a webhook…</button>`}
    </div>
    <p>They receive signed messages when a key crosses a threshold of its quota, is suspended or reinstated.</p>
    <${Loaded} data=${data} what="Reading the webhooks">
      ${({ webhooks }: { webhooks: WebhookDetails[] }) => html`<${Table} caption="Webhooks" columns=${columns} rows=${webhooks} idOf=${({ webhookId }: WebhookDetails) => webhookId} empty="There is no webhook." />`}
    <//>
    ${isAdding && html`<${AddWebhook} onChange=${data.reload} onClose=${() => setAdding(false)} />`}
  `;
};

/** Names the keys that a webhook is about. */
const scopeText = ({ websiteId, apiKey }: WebhookDetails): string =>
  [websiteId, apiKey].filter(Boolean).join(", ") || "all";

export const Scope = ({ webhook }: { webhook: WebhookDetails }): VNode | string => {
  const { websiteId, apiKey } = webhook;
  if (!websiteId && !apiKey) return "all";
  return html`<span class="mono">
    ${websiteId && html`<a href=${linkTo(["websites", websiteId])}>${websiteId}</a> `}
    ${apiKey && html`<a href=${linkTo(["keys", apiKey])}>${apiKey}</a>`}
  </span>`;
};

const reasons = {
  operator: "by an operator",
  receiver: "the receiver responded with 410 Gone",
  restore: "the log was restored from a backup",
} as const;

export const WebhookStatus = ({ webhook }: { webhook: WebhookDetails }): VNode => {
  const { status, disabled } = webhook;
  if (!disabled) return html`<${Badge} tone="good">${status}<//>`;
  const by = reasons[disabled.by];
  return html`<${Badge} tone="bad">${status}<//>
    <br /><small>${by}, since ${formatTime(disabled.since)}</small>`;
};

const columns: Column<WebhookDetails>[] = [
  {
    title: "Address",
    value: ({ url }) => url,
    view: ({ webhookId, url }) => html`<a href=${linkTo(["webhooks", webhookId])}>${url}</a>`,
  },
  { title: "Events", value: ({ events }) => events.join(", ") },
  { title: "Keys", value: scopeText, view: (webhook) => html`<${Scope} webhook=${webhook} />` },
  {
    title: "State",
    value: ({ status }) => status,
    view: (webhook) => html`<${WebhookStatus} webhook=${webhook} />`,
  },
  { title: "Added", value: ({ addedAt }) => formatTime(addedAt) },
];
