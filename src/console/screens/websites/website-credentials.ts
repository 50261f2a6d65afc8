import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { CredentialsDetails } from "../../../application/accounts/credentials.ts";
import type { WebsiteDetails } from "../../../application/accounts/websites.ts";
import { Confirm, type WithClose } from "../../components/dialog.ts";
import { Field, valueIn } from "../../components/field.ts";
import { Loaded } from "../../components/status.ts";
import { actionColumns, type Column, Table } from "../../components/table.ts";
import { formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { useChange, useMayChange } from "../../session.ts";
import { useGet } from "../../use-data.ts";

type Engine = CredentialsDetails["engine"];

/** The fields of each engine's simplest credentials. Others are set on the command line. */
const fields: Readonly<
  Record<Engine, readonly { name: string; label: string; isSecret?: boolean; isOptional?: boolean }[]>
> = {
  gwn: [{ name: "apiKey", label: "API key", isSecret: true }],
  msv: [
    { name: "subscriptionKey", label: "Subscription key", isSecret: true },
    { name: "region", label: "Region" },
  ],
  oai: [
    { name: "apiKey", label: "API key", isSecret: true },
    { name: "baseUrl", label: "Base URL", isOptional: true },
    { name: "model", label: "Model", isOptional: true },
  ],
};

/** A website's accounts with providers. Credentials can be set here, but are never shown. */
export const WebsiteCredentials = ({ website }: { website: WebsiteDetails }): VNode => {
  const mayChange = useMayChange();
  const [setting, setSetting] = useState(false);
  const [removed, setRemoved] = useState<Engine>();
  const path = `admin/websites/${encodeURIComponent(website.id)}/credentials`;
  const data = useGet<{ credentials: CredentialsDetails[] }>(path);
  const { notify, send } = useChange(data.reload);
  const remove = async () => {
    await send("DELETE", `${path}/${removed}`);
    notify({ text: `Removed the credentials for ${removed}.` });
  };
  const columns: Column<CredentialsDetails>[] = [
    { title: "Engine", value: ({ engine, provider }) => `${engine} (${provider})` },
    { title: "Voices", isNumber: true, value: ({ voices }) => voices },
    { title: "Set", value: ({ setAt }) => formatTime(setAt) },
    { title: "Note", value: ({ retirement }) => retirement?.message ?? "" },
    ...actionColumns<CredentialsDetails>(
      mayChange,
      ({ engine }) =>
        html`<button type="button" class="quiet danger" onClick=${() => setRemoved(engine)}>Remove…</button>`,
    ),
  ];
  return html`<section class="card stack">
    <h2>Accounts with providers</h2>
    <${Loaded} data=${data} what="Reading the accounts">
      ${({ credentials }: { credentials: CredentialsDetails[] }) => html`<${Table} caption="Engines on the website's own credentials" columns=${columns} rows=${credentials} idOf=${({ engine }: CredentialsDetails) => engine} empty="The website has no credentials of its own." />`}
    <//>
    ${mayChange && html`<div class="row"><button type="button" onClick=${() => setSetting(true)}>Set credentials…</button></div>`}
    ${setting && html`<${SetCredentials} path=${path} onSet=${data.reload} onClose=${() => setSetting(false)} />`}
    ${
      removed &&
      html`<${Confirm} title="Remove these credentials?" action="Remove" isDangerous onConfirm=${remove} onClose=${() => setRemoved(undefined)}>
        <p>The voices of ${removed} leave the catalog of ${website.name}. The credentials cannot be restored from here.</p>
      <//>`
    }
  </section>`;
};

interface SetCredentialsProps {
  readonly path: string;
  readonly onSet: () => void;
}

const SetCredentials = ({ path, onSet, onClose }: WithClose<SetCredentialsProps>): VNode => {
  const { notify, send } = useChange(onSet);
  const [engine, setEngine] = useState<Engine>("gwn");
  const set = async (form: FormData) => {
    const given = fields[engine].map(({ name }) => [name, String(form.get(name) ?? "").trim()]);
    const body = Object.fromEntries(given.filter(([, value]) => value !== ""));
    const { voices, retirement } = await send<CredentialsDetails>("PUT", `${path}/${engine}`, body);
    const accepted = `The provider accepted the credentials for ${engine} and listed ${voices} voices.`;
    notify({ text: retirement ? `${accepted} ${retirement.message}` : accepted });
  };
  const choose = (event: Event) => setEngine(valueIn(event) as Engine);
  return html`<${Confirm} title="Set credentials" action="Verify and set" onConfirm=${set} onClose=${onClose}>
    <p>The provider is asked for its voices, which verifies them. They replace the engine's credentials, if it has any.</p>
    <${Field} label="Engine" as="select" control=${{ onChange: choose }}>
      ${Object.keys(fields).map((one) => html`<option key=${one} value=${one} selected=${one === engine}>${one}</option>`)}
    <//>
    ${fields[engine].map(
      ({ name, label, isSecret, isOptional }) =>
        html`<${Field} key=${`${engine}.${name}`} label=${label} hint=${isOptional && "Optional."} control=${{ name, type: isSecret ? "password" : "text", required: !isOptional, autocomplete: "off" }} />`,
    )}
  <//>`;
};
