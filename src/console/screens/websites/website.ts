import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { KeyDetails } from "../../../application/accounts/keys.ts";
import type { WebsiteDetails } from "../../../application/accounts/websites.ts";
import { Confirm, ShownOnce } from "../../components/dialog.ts";
import { Field } from "../../components/field.ts";
import { Loaded } from "../../components/status.ts";
import { type Column, Table } from "../../components/table.ts";
import { formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import type { ScreenProps } from "../../routing.ts";
import { useChange, useMayChange } from "../../session.ts";
import { useGet } from "../../use-data.ts";
import { keyColumn, planColumn, Status, UsageBar } from "./keys.ts";
import { PagePreview } from "./page-preview.ts";
import { ConfigEditor } from "./website-config.ts";
import { WebsiteCredentials } from "./website-credentials.ts";
import { WebsiteLexicons } from "./website-lexicons.ts";

interface WebsiteProps {
  readonly website: WebsiteDetails;
  readonly onChange: () => void;
}

/**
 * One website: its origins, keys, accounts with providers, lexicons and configuration, and what is
 * read of its pages.
 */
export const Website = ({ params }: ScreenProps): VNode => {
  const { id = "" } = params;
  const data = useGet<WebsiteDetails>(`admin/websites/${encodeURIComponent(id)}`);
  return html`<${Loaded} data=${data} what="Reading the website">
    ${(website: WebsiteDetails) => html`<div class="stack">
      <${Name} website=${website} onChange=${data.reload} />
      <p class="as-of"><code>${website.id}</code>, registered ${formatTime(website.registeredAt)}</p>
      <div class="grid">
        <${Origins} website=${website} onChange=${data.reload} />
        <${WebsiteCredentials} website=${website} />
      </div>
      <${WebsiteKeys} website=${website} />
      <${WebsiteLexicons} website=${website} />
      <${ConfigEditor} key=${JSON.stringify(website.storedConfig)} website=${website} onChange=${data.reload} />
      <${PagePreview} website=${website} />
    </div>`}
  <//>`;
};

const Name = ({ website, onChange }: WebsiteProps): VNode => {
  const mayChange = useMayChange();
  const [isOpen, setOpen] = useState(false);
  const { send } = useChange(onChange);
  const known = website.lost?.includes("name") ? "" : website.name;
  const rename = (fields: FormData) =>
    send("PUT", `admin/websites/${encodeURIComponent(website.id)}/name`, { name: fields.get("name") });
  return html`<div class="head">
    <h1>${website.name}</h1>
    ${mayChange && html`<button type="button" onClick=${() => setOpen(true)}>Rename…</button>`}
    ${
      isOpen &&
      html`<${Confirm} title="Rename the website" action="Rename" onConfirm=${rename} onClose=${() => setOpen(false)}>
        <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 200, defaultValue: known }} />
      <//>`
    }
  </div>`;
};

const Origins = ({ website, onChange }: WebsiteProps): VNode => {
  const mayChange = useMayChange();
  const [dialog, setDialog] = useState<"origins" | "verification">();
  const [token, setToken] = useState<string>();
  const path = `admin/websites/${encodeURIComponent(website.id)}`;
  const { api, notify, send } = useChange(onChange);
  const put = (origins: readonly string[]) => send("PUT", `${path}/origins`, { origins });
  const change = async (fields: FormData) => {
    await put(String(fields.get("origins")).split(/\s+/).filter(Boolean));
    notify({ text: `Changed the origins of ${website.name}.`, undo: () => put(website.origins) });
  };
  const verify = async (fields: FormData) => {
    const body = { origin: fields.get("origin") };
    setToken((await api.send<{ token: string }>("POST", `${path}/verifications`, body)).token);
  };
  const close = () => {
    setDialog(undefined);
    setToken(undefined);
  };
  return html`<section class="card stack">
    <h2>Verified origins</h2>
    ${website.lost?.includes("origins") && html`<p>Lost: no key here decrypts them. Set them again.</p>`}
    ${website.origins.length === 0 ? html`<p class="muted">None: browsers cannot use the key without its secret.</p>` : html`<ul>${website.origins.map((origin) => html`<li key=${origin}>${origin}</li>`)}</ul>`}
    ${
      mayChange &&
      html`<div class="row">
        <button type="button" onClick=${() => setDialog("origins")}>Change origins…</button>
        <button type="button" onClick=${() => setDialog("verification")}>Issue a verification token…</button>
      </div>`
    }
    ${
      dialog === "origins" &&
      html`<${Confirm} title="Change the verified origins" action="Change origins" onConfirm=${change} onClose=${close}>
        <${Field} as="textarea" label="Origins, one a line" control=${{ name: "origins", defaultValue: website.origins.join("\n") }} />
      <//>`
    }
    ${
      dialog === "verification" &&
      (token
        ? html`<${ShownOnce} title="The verification token" secret=${token} onClose=${close} />`
        : html`<${Confirm} title="Issue a verification token" action="Issue token" staysOpen onConfirm=${verify} onClose=${close}>
            <p>With it the site proves an origin once, within 15 minutes.</p>
            <${Field} label="Origin" control=${{ name: "origin", type: "url", required: true, placeholder: "https://example.com" }} />
          <//>`)
    }
  </section>`;
};

const WebsiteKeys = ({ website }: { website: WebsiteDetails }): VNode => {
  const data = useGet<{ keys: KeyDetails[] }>("admin/keys", { search: website.id, limit: 100 });
  const columns: Column<KeyDetails>[] = [
    keyColumn,
    planColumn,
    {
      title: "Used of quota this month",
      value: ({ usage }) => usage?.characters,
      view: ({ usage }) => html`<${UsageBar} usage=${usage} />`,
    },
    { title: "State", value: ({ status }) => status, view: (row) => html`<${Status} keyDetails=${row} />` },
  ];
  return html`<section class="stack">
    <h2>Keys</h2>
    <${Loaded} data=${data} what="Reading the keys">
      ${({ keys }: { keys: KeyDetails[] }) => html`<${Table} caption="Keys of the website" columns=${columns} rows=${keys} idOf=${({ apiKey }: KeyDetails) => apiKey} />`}
    <//>
  </section>`;
};
