import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewWebhook, WebhookDetails } from "../../application/webhooks/webhooks.ts";
import { webhookEventTypes } from "../../domain/webhooks/message.ts";
import { type Action, ActionButtons, Confirm, ShownOnce, type WithClose } from "../components/dialog.ts";
import { Field } from "../components/field.ts";
import { html } from "../html.ts";
import { linkTo, navigate } from "../routing.ts";
import { useChange, useSession } from "../session.ts";

interface WebhookActionsProps {
  readonly webhook: WebhookDetails;
  /** Called after each change, except the removal. */
  readonly onChange: () => void;
}

type ActionProps = WithClose<WebhookActionsProps>;

const pathOf = ({ webhookId }: WebhookDetails): string => `admin/webhooks/${encodeURIComponent(webhookId)}`;

/** The actions of an operator on a webhook; nothing for auditors. */
export const WebhookActions = (props: WebhookActionsProps): VNode => {
  const actions: Action<WebhookActionsProps>[] = [
    { title: "Test message…", dialog: SendTest },
    { title: "Change…", dialog: Change },
    { title: props.webhook.status === "enabled" ? "Disable…" : "Enable…", dialog: SetEnabled },
    { title: "New secret…", dialog: Rotate },
    { title: "Remove…", dialog: Remove, isDangerous: true },
  ];
  return html`<${ActionButtons} actions=${actions} props=${props} />`;
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
export const AddWebhook = ({ onChange, onClose }: Omit<ActionProps, "webhook">): VNode => {
  const { send } = useChange(onChange);
  const [added, setAdded] = useState<NewWebhook>();
  const add = async (fields: FormData) => {
    const filter = ["websiteId", "apiKey"].map((name) => [name, String(fields.get(name)).trim()]);
    const body = { ...targetIn(fields), ...Object.fromEntries(filter.filter(([, value]) => value !== "")) };
    setAdded(await send("POST", "admin/webhooks", body));
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

const SendTest = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const { notify, send } = useChange(onChange);
  const test = async () => {
    await send("POST", `${pathOf(webhook)}/test`);
    notify({ text: "Queued a test message." });
  };
  return html`<${Confirm} title="Send a test message?" action="Send" onConfirm=${test} onClose=${onClose}>
    <p>${webhook.url} receives a message of type <code>webhook.test</code>${webhook.status === "disabled" && " when the webhook is enabled again"}.</p>
  <//>`;
};

const Change = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const { url, events } = webhook;
  const { notify, send } = useChange(onChange);
  const patch = (body: object) => send("PATCH", pathOf(webhook), body);
  const change = async (fields: FormData) => {
    await patch(targetIn(fields));
    notify({ text: `Changed ${webhook.webhookId}.`, undo: () => patch({ url, events }) });
  };
  return html`<${Confirm} title="Change the webhook" action="Change webhook" onConfirm=${change} onClose=${onClose}>
    <${TargetFields} url=${url} events=${events} />
  <//>`;
};

const SetEnabled = ({ webhook, onChange, onClose }: ActionProps): VNode => {
  const isEnabled = webhook.status === "enabled";
  const { notify, send } = useChange(onChange);
  const put = (enabled: boolean) => send("PATCH", pathOf(webhook), { enabled });
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
  const [secret, setSecret] = useState<string>();
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
