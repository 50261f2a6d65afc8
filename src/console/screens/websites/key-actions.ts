import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails, NewSecret } from "../../../application/accounts/keys.ts";
import { isFixed, type Plan, type Tier, tiers } from "../../../domain/accounts/plan.ts";
import { type Action, ActionButtons, Confirm, ShownOnce, type WithClose } from "../../components/dialog.ts";
import { Field, valueIn } from "../../components/field.ts";
import { html } from "../../html.ts";
import { useChange, useSession } from "../../session.ts";

interface KeyActionsProps {
  readonly keyDetails: KeyDetails;
  /** Called after each change. */
  readonly onChange: () => void;
}

type ActionProps = WithClose<KeyActionsProps>;

const pathOf = ({ apiKey }: KeyDetails): string => `admin/keys/${encodeURIComponent(apiKey)}`;

/** The actions of an operator on a key; nothing for auditors. */
export const KeyActions = (props: KeyActionsProps): VNode => {
  const actions: Action<KeyActionsProps>[] = [
    props.keyDetails.status === "active"
      ? { title: "Suspend…", dialog: Suspend }
      : { title: "Reinstate…", dialog: Reinstate },
    { title: "Plan…", dialog: ChangePlan },
    { title: "New secret…", dialog: Rotate },
  ];
  return html`<${ActionButtons} actions=${actions} props=${props} />`;
};

const nameOf = ({ apiKey, websiteName }: KeyDetails) =>
  html`<code>${apiKey}</code>${websiteName && ` of ${websiteName}`}`;

const reasonField = (hint?: string) =>
  html`<${Field} label="Reason" hint=${hint} control=${{ name: "reason", required: true, maxlength: 500 }} />`;

/** Sends a change of the key's state. */
const useStatusChange = ({ keyDetails, onChange }: KeyActionsProps) => {
  const { send } = useChange(onChange);
  return (to: "suspend" | "reinstate", reason: unknown) =>
    send("POST", `${pathOf(keyDetails)}/${to}`, { reason });
};

const Suspend = (props: ActionProps): VNode => {
  const { keyDetails, onClose } = props;
  const { notify } = useSession();
  const change = useStatusChange(props);
  const suspend = async (fields: FormData) => {
    await change("suspend", fields.get("reason"));
    const undo = () => change("reinstate", "the suspension was undone");
    notify({ text: `Suspended ${keyDetails.apiKey}.`, undo });
  };
  return html`<${Confirm} title="Suspend this key?" action="Suspend" isDangerous onConfirm=${suspend} onClose=${onClose}>
    <p>All requests with the key ${nameOf(keyDetails)} are refused until it is reinstated.</p>
    ${reasonField("Callers see it in the refusal.")}
  <//>`;
};

const Reinstate = (props: ActionProps): VNode => {
  const { keyDetails, onClose } = props;
  const { notify } = useSession();
  const { suspension } = keyDetails;
  const change = useStatusChange(props);
  const reinstate = async (fields: FormData) => {
    await change("reinstate", fields.get("reason"));
    const undo = () => change("suspend", suspension?.reason ?? "undone");
    notify({ text: `Reinstated ${keyDetails.apiKey}.`, undo });
  };
  return html`<${Confirm} title="Reinstate this key?" action="Reinstate" onConfirm=${reinstate} onClose=${onClose}>
    <p>The key ${nameOf(keyDetails)} was suspended: ${suspension?.reason}.</p>
    ${reasonField()}
  <//>`;
};

const ChangePlan = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const before = keyDetails.plan;
  const [tier, setTier] = useState(before.tier);
  const { notify, send } = useChange(onChange);
  const put = (plan: unknown) => send("PUT", `${pathOf(keyDetails)}/plan`, plan);
  const change = async (fields: FormData) => {
    await put(planIn(fields));
    notify({ text: `Changed the plan of ${keyDetails.apiKey}.`, undo: () => put(requestOf(before)) });
  };
  return html`<${Confirm} title="Change the plan?" action="Change plan" onConfirm=${change} onClose=${onClose}>
    <p>A higher quota ends a suspension by quota. The key: ${nameOf(keyDetails)}.</p>
    <${Field} label="Tier" as="select" control=${{ name: "tier", value: tier, onChange: (event: Event) => setTier(valueIn(event) as Tier) }}>
      ${tiers.map((one) => html`<option key=${one} value=${one} selected=${one === tier}>${one}</option>`)}
    <//>
    ${
      !isFixed(tier) &&
      html`<${Field} label="Requests per minute" control=${{ name: "requestsPerMinute", type: "number", min: 1, required: true, defaultValue: before.requestsPerMinute }} />
        <${Field} label="Characters per month" hint="Empty: unlimited." control=${{ name: "monthlyCharacters", type: "number", min: 0, defaultValue: before.monthlyCharacters ?? "" }} />`
    }
  <//>`;
};

const planIn = (fields: FormData): unknown => {
  const tier = String(fields.get("tier")) as Tier;
  if (isFixed(tier)) return { tier };
  const characters = String(fields.get("monthlyCharacters"));
  return {
    tier,
    requestsPerMinute: Number(fields.get("requestsPerMinute")),
    monthlyCharacters: characters === "" ? null : Number(characters),
  };
};

const requestOf = (plan: Plan): unknown => (isFixed(plan.tier) ? { tier: plan.tier } : plan);

/** A new secret beside the old ones, which can then be revoked. */
const Rotate = ({ keyDetails, onChange, onClose }: ActionProps): VNode => {
  const { send } = useChange(onChange);
  const [secret, setSecret] = useState<NewSecret>();
  const create = async () => setSecret(await send("POST", `${pathOf(keyDetails)}/secrets`));
  if (secret)
    return html`<${ShownOnce} title="The new secret" secret=${secret.apiSecret} onClose=${onClose} />`;
  return html`<${Confirm} title="Create another secret?" action="Create secret" staysOpen onConfirm=${create} onClose=${onClose}>
    <p>The key ${nameOf(keyDetails)} has ${keyDetails.secrets.length} of at most 10 secrets. Existing ones stay valid until you revoke them on the key's page.</p>
  <//>`;
};
