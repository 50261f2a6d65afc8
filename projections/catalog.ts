import type { CatalogEvent } from "../src/domain/catalog/catalog.ts";
import { type CatalogIndex, indexCatalog } from "../src/domain/catalog/catalog-index.ts";
import type { SystemVoice, Voice } from "../src/domain/synthesis/speech.ts";
import type { RecordedEvent } from "../src/eventstore/event-store.ts";
import type { Projection } from "./projection.ts";

export interface CatalogState {
  /** Events heard: changes whenever the catalog does, and is the same on every instance. */
  revision: number;
  /** ISO 8601, UTC; null while the catalog is empty. */
  updatedAt: string | null;
  voices: Voice[];
  systemVoices: SystemVoice[];
}

/** One partition, `catalog`. */
export const catalog: Projection<CatalogState> = {
  name: "catalog",
  version: 1,
  prefixes: ["catalog"],
  partition: ({ stream }) => (stream === "catalog" ? stream : undefined),
  initial: () => ({ revision: 0, updatedAt: null, voices: [], systemVoices: [] }),
  apply: (state, event) => {
    if (!change(state, event)) return state;
    state.revision = event.revision + 1;
    state.updatedAt = (event.data as CatalogEvent["data"]).at;
    return state;
  },
};

const indexes = new WeakMap<CatalogState, { revision: number; index: CatalogIndex }>();

/** The state made fast to ask; built once for each revision, when first asked. */
export const catalogIndexOf = (state: CatalogState): CatalogIndex => {
  const known = indexes.get(state);
  if (known?.revision === state.revision) return known.index;
  const index = indexCatalog(state);
  indexes.set(state, { revision: state.revision, index });
  return index;
};

/** False for an event that it does not know. */
const change = (state: CatalogState, { type, data }: RecordedEvent): boolean => {
  const event = { type, data } as CatalogEvent;
  switch (event.type) {
    case "SystemVoiceAdded":
      state.systemVoices.push(event.data.systemVoice);
      return true;
    case "SystemVoiceDeprecated":
      replace(state.systemVoices, ({ id }) => id === event.data.id, deprecated);
      return true;
    case "VoiceAdded":
      state.voices.push(event.data.voice);
      return true;
    case "VoiceChanged":
      replace(
        state.voices,
        ({ name }) => name === event.data.voice.name,
        () => event.data.voice,
      );
      return true;
    case "VoiceDeprecated":
      replace(state.voices, ({ name }) => name === event.data.name, deprecated);
      return true;
    default:
      return false;
  }
};

const deprecated = <T>(was: T): T => ({ ...was, deprecated: true });

const replace = <T>(all: T[], isMeant: (one: T) => boolean, become: (was: T) => T): void => {
  const at = all.findIndex(isMeant);
  const was = all[at];
  if (was) all[at] = become(was);
};
