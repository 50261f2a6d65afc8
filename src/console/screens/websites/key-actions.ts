import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails, NewSecret } from "../../../application/accounts/keys.ts";
import type { Plan, Tier } from "../../../domain/accounts/plan.ts";
import { CopyButton } from "../../components/copy-button.ts";
import { Confirm, Dialog } from "../../components/dialog.ts";
import { Field } from "../../components/field.ts";
import { html } from "../../html.ts";
import { useMayChange, useSession } from "../../session.ts";

type Action = "suspend" | "reinstate" | "plan" | "rotate";

interface KeyActionsProps {
  readonly keyDetails: KeyDetails;
  /** Called after each change. */
  readonly onChange: () => void;
}

const pathOf = ({ apiKey }: KeyDetails): string => `admin/keys/${encodeURIComponent(apiKey)}`;

/** What an operator can do with a key; nothing for auditors. */
export const KeyActions = ({ keyDetails, onChange }: KeyActionsProps): VNode | null => {
  const [action, setAction] = useState<Action | undefined>();
  const mayChange = useMayChange();
  if (!mayChange) return null;
  const close = () => setAction(undefined);
  const props = { keyDetails, onChange, onClose: close };
  const button = (name: Action, title: string) =>
    html`<button type="button" class="quiet" onClick=${() => setAction(name)}>${title}</button>`;
  return html`<span class="row">
    ${keyDetails.status === "active" ? button("suspend", "Suspend…") : button("reinstate", "Reinstate…")}
    ${button("plan", "Plan…")} ${button("rotate", "New secret…")}
    ${action === "suspend" && html`<${Suspend} ...${props} />`}
    ${action === "reinstate" && html`<${Reinstate} ...${props} />`}
    ${action === "plan" && html`<${ChangePlan} ...${props} />`}
    ${action === "rotate" && html`<${Rotate} ...${props} />`}
  </span>`;
};

type ActionProps = KeyActionsProps & { readonly onClose: () => void };

const nameOf = ({ apiKey, websiteName }: KeyDetails) =>
  html`<code>${apiKey}</code>${websiteName && ` of ${websiteName}`}`;

const reasonField = (hint?: string) =>
  html`<${Field} label="Reason" hint=${hint} control=${{ name: "reason", required: true, maxlength: 500 }} />`;

const Suspend = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const suspend = async (fields: FormData) => {
    await api.send("POST", `${pathOf(keyDetails)}/suspend`, { reason: fields.get("reason") });
    onChange();
    const undo = async () => {
      await api.send("POST", `${pathOf(keyDetails)}/reinstate`, { reason: "the suspension was undone" });
      onChange();
    };
    notify({ text: `Suspended ${keyDetails.apiKey}.`, undo });
  };
  return html`<${Confirm} title="Suspend this key?" action="Suspend" isDangerous onConfirm=${suspend} onClose=${onClose}>
    <p>All requests with the key ${nameOf(keyDetails)} are refused until it is reinstated.</p>
    ${reasonField("Callers see it in the refusal.")}
  <//>`;
};

const Reinstate = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const { suspension } = keyDetails;
  const reinstate = async (fields: FormData) => {
    await api.send("POST", `${pathOf(keyDetails)}/reinstate`, { reason: fields.get("reason") });
    onChange();
    const undo = async () => {
      await api.send("POST", `${pathOf(keyDetails)}/suspend`, { reason: suspension?.reason ?? "undone" });
      onChange();
    };
    notify({ text: `Reinstated ${keyDetails.apiKey}.`, undo });
  };
  return html`<${Confirm} title="Reinstate this key?" action="Reinstate" onConfirm=${reinstate} onClose=${onClose}>
    <p>The key ${nameOf(keyDetails)} was suspended: ${suspension?.reason}.</p>
    ${reasonField()}
  <//>`;
};

/** Tiers whose limits are fixed; those of `enterprise` are set for each key. */
const fixedTiers: readonly Tier[] = ["free", "commercial"];

const ChangePlan = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const { api, notify } = useSession();
  const before = keyDetails.plan;
  const [tier, setTier] = useState<string>(before.tier);
  const put = async (plan: unknown) => {
    await api.send("PUT", `${pathOf(keyDetails)}/plan`, plan);
    onChange();
  };
  const change = async (fields: FormData) => {
    await put(planIn(fields));
    notify({ text: `Changed the plan of ${keyDetails.apiKey}.`, undo: () => put(requestOf(before)) });
  };
  return html`<${Confirm} title="Change the plan?" action="Change plan" onConfirm=${change} onClose=${onClose}>
    <p>A higher quota ends a suspension by quota. The key: ${nameOf(keyDetails)}.</p>
    <${Field} label="Tier" as="select" control=${{ name: "tier", value: tier, onChange: (event: Event) => setTier((event.currentTarget as HTMLSelectElement).value) }}>
      ${[...fixedTiers, "enterprise"].map((one) => html`<option key=${one} value=${one} selected=${one === tier}>${one}</option>`)}
    <//>
    ${
      tier === "enterprise" &&
      html`<${Field} label="Requests per minute" control=${{ name: "requestsPerMinute", type: "number", min: 1, required: true, defaultValue: before.requestsPerMinute }} />
        <${Field} label="Characters per month" hint="Empty: unlimited." control=${{ name: "monthlyCharacters", type: "number", min: 0, defaultValue: before.monthlyCharacters ?? "" }} />`
    }
  <//>`;
};

const planIn = (fields: FormData): unknown => {
  const tier = String(fields.get("tier"));
  if (tier !== "enterprise") return { tier };
  const characters = String(fields.get("monthlyCharacters"));
  return {
    tier,
    requestsPerMinute: Number(fields.get("requestsPerMinute")),
    monthlyCharacters: characters === "" ? null : Number(characters),
  };
};

const requestOf = (plan: Plan): unknown => (plan.tier === "enterprise" ? plan : { tier: plan.tier });

/** A new secret beside the old ones, which can then be revoked. */
const Rotate = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const { api } = useSession();
  const [secret, setSecret] = useState<NewSecret | undefined>();
  const create = async () => {
    setSecret(await api.send<NewSecret>("POST", `${pathOf(keyDetails)}/secrets`));
    onChange();
  };
  if (secret)
    return html`<${ShownOnce} title="The new secret" secret=${secret.apiSecret} onClose=${onClose} />`;
  return html`<${Confirm} title="Create another secret?" action="Create secret" staysOpen onConfirm=${create} onClose=${onClose}>
    <p>The key ${nameOf(keyDetails)} has ${keyDetails.secrets.length} of at most 10 secrets. Existing ones stay valid until you revoke them on the key's page.</p>
  <//>`;
};

/** A secret that the service shows only once. It is not in the page any more when the dialog is closed. */
export const ShownOnce = ({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string;
  onClose: () => void;
}): VNode =>
  html`<${Dialog} title=${title} onClose=${onClose}>
    <p>It is shown only now. Store it where only your server can read it.</p>
    <code class="secret">${secret}</code>
    <div class="actions">
      <${CopyButton} text=${() => secret} label="Copy secret" />
      <button type="button" class="primary" onClick=${onClose}>Done</button>
    </div>
  <//>`;
