import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewWebsite, WebsiteDetails } from "../../../application/accounts/websites.ts";
import { fixedTiers } from "../../../domain/accounts/plan.ts";
import { Confirm, ShownOnce } from "../../components/dialog.ts";
import { Field, Search } from "../../components/field.ts";
import { type Listed, PageButtons, usePages } from "../../components/pages.ts";
import { Loaded } from "../../components/status.ts";
import { type Column, Table } from "../../components/table.ts";
import { formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo } from "../../routing.ts";
import { useChange, useMayChange } from "../../session.ts";
import { useGet } from "../../use-data.ts";

type WebsiteList = Listed & { readonly websites: readonly WebsiteDetails[] };

/** All websites, and a button to register one. */
export const Websites = (): VNode => {
  const mayChange = useMayChange();
  const [search, setSearch] = useState("");
  const [isRegistering, setRegistering] = useState(false);
  const pages = usePages();
  const data = useGet<WebsiteList>("admin/websites", { search, limit: 25, after: pages.after });
  const find = (text: string) => {
    pages.first();
    setSearch(text);
  };
  return html`
    <div class="head">
      <h1>Websites</h1>
      ${mayChange && html`<button type="button" onClick=${() => setRegistering(true)}>Register a website…</button>`}
    </div>
    <${Search} placeholder="name, id or origin" onSearch=${find} />
    <${Loaded} data=${data} what="Reading the websites">
      ${(
        list: WebsiteList,
      ) => html`<${Table} caption="Websites" columns=${columns} rows=${list.websites} idOf=${({ id }: WebsiteDetails) => id} empty="No website matches.">
        <${PageButtons} pages=${pages} listed=${list} />
      <//>`}
    <//>
    ${isRegistering && html`<${Register} onRegistered=${data.reload} onClose=${() => setRegistering(false)} />`}
  `;
};

const columns: Column<WebsiteDetails>[] = [
  {
    title: "Name",
    value: ({ name }) => name,
    view: ({ id, name }) => html`<a href=${linkTo(["websites", id])}>${name}</a>`,
  },
  { title: "Id", value: ({ id }) => id, view: ({ id }) => html`<span class="mono">${id}</span>` },
  { title: "Verified origins", value: ({ origins }) => origins.join(", ") },
  { title: "Registered", value: ({ registeredAt }) => formatTime(registeredAt) },
];

const Register = ({ onRegistered, onClose }: { onRegistered: () => void; onClose: () => void }): VNode => {
  const { send } = useChange(onRegistered);
  const [registered, setRegistered] = useState<NewWebsite>();
  const register = async (fields: FormData) => {
    const body = { name: fields.get("name"), plan: fields.get("plan") };
    setRegistered(await send("POST", "admin/websites", body));
  };
  if (registered) {
    const title = `The secret of ${registered.apiKey}`;
    return html`<${ShownOnce} title=${title} secret=${registered.apiSecret} onClose=${onClose} />`;
  }
  return html`<${Confirm} title="Register a website" action="Register" staysOpen onConfirm=${register} onClose=${onClose}>
    <p>It receives a key with a secret.</p>
    <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 200 }} />
    <${Field} label="Plan" as="select" control=${{ name: "plan" }}>
      ${fixedTiers.map((tier) => html`<option key=${tier} value=${tier}>${tier}</option>`)}
    <//>
  <//>`;
};
