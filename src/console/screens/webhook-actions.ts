import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewWebhook, WebhookDetails } from "../../application/webhooks/webhooks.ts";
import { webhookEventTypes } from "../../domain/webhooks/message.ts";
import { Confirm } from "../components/dialog.ts";
import { Field } from "../components/field.ts";
import { html } from "../html.ts";
import { linkTo, navigate } from "../routing.ts";
import { useMayChange, useSession } from "../session.ts";
import { ShownOnce } from "./websites/key-actions.ts";

type Action = "test" | "change" | "enabled" | "rotate" | "remove";

interface WebhookActionsProps {
  readonly webhook: WebhookDetails;
  /** Called after each change, except the removal. */
  readonly onChange: () => void;
}

const pathOf = ({ webhookId }: WebhookDetails): string => `admin/webhooks/${encodeURIComponent(webhookId)}`;

/** What an operator can do with a webhook; nothing for auditors. */
export const WebhookActions = ({ webhook, onChange }: WebhookActionsProps): VNode | null => {
  const [action, setAction] = useState<Action | undefined>();
  const mayChange = useMayChange();
  if (!mayChange) return null;
  const props = { webhook, onChange, onClose: () => setAction(undefined) };
  const button = (name: Action, title: string, tone = "") =>
    html`<button type="button" class=${`quiet ${tone}`} onClick=${() => setAction(name)}>${title}</button>`;
  return html`<div class="row">
    ${button("test", "Test message…")} ${button("change", "Change…")}
    ${button("enabled", webhook.status === "enabled" ? "Disable…" : "Enable…")}
    ${button("rotate", "New secret…")} ${button("remove", "Remove…", "danger")}
    ${action === "test" && html`<${SendTest} ...${props} />`}
    ${action === "change" && html`<${Change} ...${props} />`}
    ${action === "enabled" && html`<${SetEnabled} ...${props} />`}
    ${action === "rotate" && html`<${Rotate} ...${props} />`}
    ${action === "remove" && html`<${Remove} ...${props} />`}
  </div>`;
};

const TargetFields = ({ url, events }: Partial<Pick<WebhookDetails, "url" | "events">>): VNode =>
  html`
    <${Field} label="Address" hint="It is stored in the log as it is: put no secret into it." control=${{ name: "url", type: "url", required: true, defaultValue: url ?? "", placeholder: "https://example.com/hooks/voxledger" }} />
    <fieldset>
      <legend>Events</legend>
      ${webhookEventTypes.map(
        (type) =>
          html`<${Field} key=${type} label=${type} control=${{ name: "events", type: "checkbox", value: type, defaultChecked: events?.includes(type) ?? true }} />`,
      )}
    </fieldset>
  `;

const targetIn = (fields: FormData) => ({ url: fields.get("url"), events: fields.getAll("events") });

/** Adds a webhook, and shows its secret once. */
export const AddWebhook = ({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }): VNode => {
  const { api } = useSession();
  const [added, setAdded] = useState<NewWebhook | undefined>();
  const add = async (fields: FormData) => {
    const filter = ["websiteId", "apiKey"].map((name) => [name, String(fields.get(name)).trim()]);
    const body = { ...targetIn(fields), ...Object.fromEntries(filter.filter(([, value]) => value !== "")) };
    setAdded(await api.send<NewWebhook>("POST", "admin/webhooks", body));
    onAdded();
  };
  if (added) {
    const title = `The secret of ${added.webhookId}`;
    return html`<${ShownOnce} title=${title} secret=${added.secret} onClose=${onClose} />`;
  }
  return html`<${Confirm} title="Add a webhook" action="Add webhook" staysOpen onConfirm=${add} onClose=${onClose}>
    <p>Its secret, with which the receiver verifies messages, is then shown once.</p>
    <${TargetFields} />
    <${Field} label="Only keys of the website" hint="Optional: a website's id." control=${{ name: "websiteId", maxlength: 200, placeholder: "web_…", autocomplete: "off" }} />
    <${Field} label="Only the key" hint="Optional: an API key." control=${{ name: "apiKey", maxlength: 200, placeholder: "vlk_…", autocomplete: "off" }} />
  <//>`;
};

type ActionProps = WebhookActionsProps & { readonly onClose: () => void };

const SendTest = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const send = async () => {
    await api.send("POST", `${pathOf(webhook)}/test`);
    onChange();
    notify({ text: "Queued a test message." });
  };
  return html`<${Confirm} title="Send a test message?" action="Send" onConfirm=${send} onClose=${onClose}>
    <p>${webhook.url} receives a message of type <code>webhook.test</code>${webhook.status === "disabled" && " when the webhook is enabled again"}.</p>
  <//>`;
};

const Change = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const { url, events } = webhook;
  const patch = async (body: object) => {
    await api.send("PATCH", pathOf(webhook), body);
    onChange();
  };
  const change = async (fields: FormData) => {
    await patch(targetIn(fields));
    notify({ text: `Changed ${webhook.webhookId}.`, undo: () => patch({ url, events }) });
  };
  return html`<${Confirm} title="Change the webhook" action="Change webhook" onConfirm=${change} onClose=${onClose}>
    <${TargetFields} url=${url} events=${events} />
  <//>`;
};

const SetEnabled = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const isEnabled = webhook.status === "enabled";
  const put = async (enabled: boolean) => {
    await api.send("PATCH", pathOf(webhook), { enabled });
    onChange();
  };
  const change = async () => {
    await put(!isEnabled);
    const done = isEnabled ? "Disabled" : "Enabled";
    notify({ text: `${done} ${webhook.webhookId}.`, undo: () => put(isEnabled) });
  };
  const verb = isEnabled ? "Disable" : "Enable";
  return html`<${Confirm} title=${`${verb} this webhook?`} action=${verb} isDangerous=${isEnabled} onConfirm=${change} onClose=${onClose}>
    <p>${
      isEnabled
        ? "What is queued waits. What happens from now on is not sent, not even when the webhook is enabled again."
        : "What is queued is sent. What happened while the webhook was disabled is not."
    }</p>
  <//>`;
};

const Rotate = ({ webhook, onClose }: ActionProps): VNode => {
  const { api } = useSession();
  const [secret, setSecret] = useState<string | undefined>();
  const rotate = async () => {
    setSecret((await api.send<{ secret: string }>("POST", `${pathOf(webhook)}/secrets`)).secret);
  };
  if (secret) return html`<${ShownOnce} title="The new secret" secret=${secret} onClose=${onClose} />`;
  return html`<${Confirm} title="Replace the secret?" action="Replace secret" isDangerous staysOpen onConfirm=${rotate} onClose=${onClose}>
    <p>For a day messages are signed with both the new secret and the present one. A secret that was replaced before is no longer used.</p>
  <//>`;
};

const Remove = ({ webhook, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const remove = async () => {
    await api.send("DELETE", pathOf(webhook));
    navigate(linkTo(["webhooks"]));
    notify({ text: `Removed ${webhook.webhookId}.` });
  };
  return html`<${Confirm} title="Remove this webhook?" action="Remove" isDangerous onConfirm=${remove} onClose=${onClose}>
    <p>${webhook.url} receives no more messages; what is queued is not sent. This cannot be undone.</p>
  <//>`;
};
