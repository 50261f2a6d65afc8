import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewWebsite, WebsiteDetails } from "../../../application/accounts/websites.ts";
import { Confirm } from "../../components/dialog.ts";
import { Field } from "../../components/field.ts";
import { type Listed, PageButtons, usePages } from "../../components/pages.ts";
import { Loaded } from "../../components/status.ts";
import { type Column, Table } from "../../components/table.ts";
import { formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { linkTo } from "../../routing.ts";
import { useMayChange, useSession } from "../../session.ts";
import { useData } from "../../use-data.ts";
import { ShownOnce } from "./key-actions.ts";

interface WebsiteList extends Listed {
  readonly websites: readonly WebsiteDetails[];
}

/** All websites, and the registration of another one. */
export const Websites = (): VNode => {
  const { api } = useSession();
  const mayChange = useMayChange();
  const [search, setSearch] = useState("");
  const [isRegistering, setRegistering] = useState(false);
  const pages = usePages();
  const { after } = pages;
  const data = useData(
    (signal) => api.get<WebsiteList>("admin/websites", { query: { search, limit: 25, after }, signal }),
    [search, after],
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    pages.first();
    setSearch(String(new FormData(event.currentTarget as HTMLFormElement).get("search")));
  };
  return html`
    <div class="head">
      <h1>Websites</h1>
      ${mayChange && html`<button type="button" onClick=${() => setRegistering(true)}>Register a website…</button>`}
    </div>
    <form class="filters" role="search" onSubmit=${submit}>
      <${Field} label="Search" control=${{ name: "search", type: "search", placeholder: "name, id or origin" }} />
      <button type="submit">Search</button>
    </form>
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
    id: "name",
    title: "Name",
    value: ({ name }) => name,
    view: ({ id, name }) => html`<a href=${linkTo(["websites", id])}>${name}</a>`,
  },
  { id: "id", title: "Id", value: ({ id }) => id, view: ({ id }) => html`<span class="mono">${id}</span>` },
  { id: "origins", title: "Verified origins", value: ({ origins }) => origins.join(", ") },
  { id: "registered", title: "Registered", value: ({ registeredAt }) => formatTime(registeredAt) },
];

const Register = ({ onRegistered, onClose }: { onRegistered: () => void; onClose: () => void }): VNode => {
  const { api } = useSession();
  const [registered, setRegistered] = useState<NewWebsite | undefined>();
  const register = async (fields: FormData) => {
    const body = { name: fields.get("name"), plan: fields.get("plan") };
    setRegistered(await api.send<NewWebsite>("POST", "admin/websites", body));
    onRegistered();
  };
  if (registered) {
    const title = `The secret of ${registered.apiKey}`;
    return html`<${ShownOnce} title=${title} secret=${registered.apiSecret} onClose=${onClose} />`;
  }
  return html`<${Confirm} title="Register a website" action="Register" staysOpen onConfirm=${register} onClose=${onClose}>
    <p>It receives a key with a secret.</p>
    <${Field} label="Name" control=${{ name: "name", required: true, maxlength: 200 }} />
    <${Field} label="Plan" as="select" control=${{ name: "plan" }}>
      <option value="free">free</option>
      <option value="commercial">commercial</option>
    <//>
  <//>`;
};
