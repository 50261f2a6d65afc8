import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { WebsiteDetails } from "../../../application/accounts/websites.ts";
import type { LexiconDetails, LexiconSummary } from "../../../application/lexicons/lexicons.ts";
import { Confirm, Dialog } from "../../components/dialog.ts";
import { Field } from "../../components/field.ts";
import { Loaded } from "../../components/status.ts";
import { actionColumns, type Column, Table } from "../../components/table.ts";
import { formatTime } from "../../format.ts";
import { html } from "../../html.ts";
import { useChange, useMayChange } from "../../session.ts";
import { useGet } from "../../use-data.ts";

type Open = { readonly dialog: "show" | "remove"; readonly name: string } | { readonly dialog: "set" };

/** The lexicons of a website, by which its texts are pronounced. */
export const WebsiteLexicons = ({ website }: { website: WebsiteDetails }): VNode => {
  const mayChange = useMayChange();
  const [open, setOpen] = useState<Open>();
  const path = `admin/websites/${encodeURIComponent(website.id)}/lexicons`;
  const data = useGet<{ lexicons: LexiconSummary[] }>(path);
  const columns: Column<LexiconSummary>[] = [
    {
      title: "Lexicon",
      value: ({ name }) => name,
      view: ({ name }) =>
        html`<button type="button" class="quiet" onClick=${() => setOpen({ dialog: "show", name })}>${name}</button>`,
    },
    { title: "Language", value: ({ lang }) => lang },
    { title: "Rules", isNumber: true, value: ({ ruleCount }) => ruleCount },
    { title: "Version", isNumber: true, value: ({ version }) => version },
    { title: "Set", value: ({ setAt }) => formatTime(setAt) },
    ...actionColumns<LexiconSummary>(
      mayChange,
      ({ name }) =>
        html`<button type="button" class="quiet danger" onClick=${() => setOpen({ dialog: "remove", name })}>Remove…</button>`,
    ),
  ];
  const props = { path, onChange: data.reload, onClose: () => setOpen(undefined) };
  return html`<section class="stack">
    <h2>Lexicons</h2>
    <${Loaded} data=${data} what="Reading the lexicons">
      ${({ lexicons }: { lexicons: LexiconSummary[] }) => html`<${Table} caption="Lexicons of the website" columns=${columns} rows=${lexicons} idOf=${({ name }: LexiconSummary) => name} empty="The website has no lexicon." />`}
    <//>
    ${mayChange && html`<div class="row"><button type="button" onClick=${() => setOpen({ dialog: "set" })}>Set a lexicon…</button></div>`}
    ${open?.dialog === "show" && html`<${ShowLexicon} ...${props} name=${open.name} />`}
    ${open?.dialog === "set" && html`<${SetLexicon} ...${props} />`}
    ${open?.dialog === "remove" && html`<${RemoveLexicon} ...${props} name=${open.name} />`}
  </section>`;
};

interface LexiconDialogProps {
  readonly path: string;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

const ShowLexicon = ({ path, name, onClose }: LexiconDialogProps & { name: string }): VNode => {
  const data = useGet<LexiconDetails>(`${path}/${encodeURIComponent(name)}`);
  type Rule = { grapheme: string; alias?: string; phoneme?: string };
  const columns: Column<Rule>[] = [
    { title: "Text", value: ({ grapheme }) => grapheme },
    { title: "Spoken as", value: ({ alias, phoneme }) => alias ?? `/${phoneme}/` },
  ];
  return html`<${Dialog} title=${`Lexicon ${name}`} onClose=${onClose}>
    <${Loaded} data=${data} what="Reading the lexicon">
      ${({ rules, lang }: LexiconDetails) => html`<${Table} caption=${`Rules for ${lang}`} columns=${columns} rows=${rules} idOf=${({ grapheme }: Rule) => grapheme} pageSize=${15} />`}
    <//>
    <div class="actions"><button type="button" onClick=${onClose}>Close</button></div>
  <//>`;
};

const SetLexicon = ({ path, onChange, onClose }: LexiconDialogProps): VNode => {
  const { notify, send } = useChange(onChange);
  const set = async (fields: FormData) => {
    const name = String(fields.get("name"));
    const rules = String(fields.get("rules"))
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => {
        const [grapheme = "", ...alias] = line.split("=");
        return { grapheme: grapheme.trim(), alias: alias.join("=").trim() };
      });
    await send("PUT", `${path}/${encodeURIComponent(name)}`, { lang: fields.get("lang"), rules });
    notify({ text: `Set the lexicon ${name}.` });
  };
  return html`<${Confirm} title="Set a lexicon" action="Set lexicon" onConfirm=${set} onClose=${onClose}>
    <p>It replaces a lexicon of the same name, and applies to all syntheses of the website from now on.</p>
    <${Field} label="Name" control=${{ name: "name", required: true }} />
    <${Field} label="Language" control=${{ name: "lang", required: true, placeholder: "en" }} />
    <${Field} as="textarea" label="Rules, one a line" hint="W3C = World Wide Web Consortium. Phonemes and PLS documents are set on the command line." control=${{ name: "rules", required: true }} />
  <//>`;
};

const RemoveLexicon = ({ path, name, onChange, onClose }: LexiconDialogProps & { name: string }): VNode => {
  const { api, notify, send } = useChange(onChange);
  const remove = async () => {
    const place = `${path}/${encodeURIComponent(name)}`;
    const { lang, rules } = await api.get<LexiconDetails>(place);
    await send("DELETE", place);
    notify({ text: `Removed the lexicon ${name}.`, undo: () => send("PUT", place, { lang, rules }) });
  };
  return html`<${Confirm} title="Remove this lexicon?" action="Remove" isDangerous onConfirm=${remove} onClose=${onClose}>
    <p>Texts of the website are then spoken without the rules of ${name}.</p>
  <//>`;
};
