import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import type { Api } from "../api.ts";
import { Field, valueIn } from "../components/field.ts";
import type { Listed } from "../components/pages.ts";
import { Loaded } from "../components/status.ts";
import { actionColumns, badgeColumn, type Column, Table } from "../components/table.ts";
import { html } from "../html.ts";
import { useMayChange, useSession } from "../session.ts";
import { useData } from "../use-data.ts";
import { AddVoice, VoiceActions } from "./voice-actions.ts";
import { VoiceChoice } from "./voice-choice.ts";
import { Listen } from "./voice-listen.ts";

interface CatalogVoice extends Voice {
  /** The engines of its system voices. */
  readonly engines: readonly string[];
}

interface Filter {
  readonly text: string;
  readonly lang: string;
  readonly engine: string;
  readonly gender: string;
}

const noFilter: Filter = { text: "", lang: "", engine: "", gender: "" };

/** The catalog of all websites, with filters. Operators can change it and listen to its voices. */
export const Voices = (): VNode => {
  const { api } = useSession();
  const mayChange = useMayChange();
  const [filter, setFilter] = useState(noFilter);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [adding, setAdding] = useState(false);
  const data = useData((signal) => readCatalog(api, signal), []);
  const toggle = (name: string) =>
    setChosen((before) =>
      before.includes(name) ? before.filter((one) => one !== name) : [...before, name].slice(-2),
    );
  return html`
    <div class="head">
      <h1>Voices</h1>
      ${mayChange && html`<button type="button" onClick=${() => setAdding(true)}>Add a voice…</button>`}
    </div>
    <${VoiceChoice} onChange=${data.reload} />
    ${mayChange && html`<${Listen} voices=${chosen} />`}
    <${Loaded} data=${data} what="Reading the catalog">
      ${(voices: CatalogVoice[]) => html`<div class="stack">
        <${Filters} voices=${voices} filter=${filter} onFilter=${setFilter} />
        <${Table}
          caption="Voices of the catalog"
          columns=${columnsOf({ mayChange, chosen, toggle, onChange: data.reload })}
          rows=${voices.filter((voice) => isIn(voice, filter))}
          idOf=${({ name }: CatalogVoice) => name}
          pageSize=${25}
          empty="No voice matches."
        />
      </div>`}
    <//>
    ${adding && html`<${AddVoice} onChange=${data.reload} onClose=${() => setAdding(false)} />`}
  `;
};

interface CatalogPage extends Listed {
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

const readCatalog = async (api: Api, signal: AbortSignal): Promise<CatalogVoice[]> => {
  const voices: CatalogVoice[] = [];
  let after: string | undefined;
  do {
    const page: CatalogPage = await api.get("admin/voices", { query: { limit: 1_000, after }, signal });
    const engines = new Map(page.systemVoices.map(({ id, service }) => [id, service ?? "browser"]));
    for (const voice of page.voices) {
      const ofVoice = new Set(voice.voiceIDs.map((id) => engines.get(id) ?? "browser"));
      voices.push({ ...voice, engines: [...ofVoice] });
    }
    after = page._links.next && voices.at(-1)?.name;
  } while (after !== undefined);
  return voices;
};

const isIn = (voice: CatalogVoice, { text, lang, engine, gender }: Filter): boolean =>
  voice.name.toLowerCase().includes(text.trim().toLowerCase()) &&
  (lang === "" || voice.lang === lang) &&
  (engine === "" || voice.engines.includes(engine)) &&
  (gender === "" || voice.gender === gender);

interface FiltersProps {
  readonly voices: readonly CatalogVoice[];
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
}

const Filters = ({ voices, filter, onFilter }: FiltersProps): VNode => {
  const select = (
    name: "lang" | "engine" | "gender",
    label: string,
    valuesOf: (voice: CatalogVoice) => string | readonly string[],
  ) => {
    const values = new Set(voices.flatMap(valuesOf));
    const onChange = (event: Event) => onFilter({ ...filter, [name]: valueIn(event) });
    return html`<${Field} label=${label} as="select" control=${{ onChange }}>
      <option value="">all</option>
      ${[...values].sort().map((value) => html`<option key=${value} value=${value} selected=${value === filter[name]}>${value}</option>`)}
    <//>`;
  };
  const onInput = (event: Event) => onFilter({ ...filter, text: valueIn(event) });
  return html`<form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
    <${Field} label="Name" control=${{ type: "search", value: filter.text, onInput }} />
    ${select("lang", "Language", ({ lang }) => lang)} ${select("engine", "Engine", ({ engines }) => engines)}
    ${select("gender", "Gender", ({ gender }) => gender)}
  </form>`;
};

interface ColumnOptions {
  readonly mayChange: boolean;
  readonly chosen: readonly string[];
  readonly toggle: (name: string) => void;
  readonly onChange: () => void;
}

const columnsOf = ({ mayChange, chosen, toggle, onChange }: ColumnOptions): Column<CatalogVoice>[] => [
  { title: "Voice", value: ({ name }) => name },
  { title: "Language", value: ({ lang }) => lang },
  { title: "Gender", value: ({ gender }) => gender },
  { title: "Engines", value: ({ engines }) => engines.join(", ") },
  badgeColumn({
    title: "State",
    value: ({ deprecated }) => (deprecated ? "deprecated" : "current"),
    tones: { deprecated: "warn", current: "good" },
  }),
  ...actionColumns<CatalogVoice>(
    mayChange,
    (voice) => html`<${VoiceActions} voice=${voice} onChange=${onChange}>
      <button type="button" class="quiet" aria-pressed=${chosen.includes(voice.name)} onClick=${() => toggle(voice.name)}>
        Listen<span class="hidden"> to ${voice.name}</span>
      </button>
    <//>`,
  ),
];
