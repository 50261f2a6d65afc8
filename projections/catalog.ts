import type { CatalogEvent, ChosenVoices } from "../src/domain/catalog/catalog.ts";
import type { SystemVoice, Voice } from "../src/domain/synthesis/speech.ts";
import type { RecordedEvent } from "../src/eventstore/event-store.ts";
import type { Projection } from "./projection.ts";

export interface CatalogState {
  /** The number of folded events. It changes with the catalog, and is equal on every instance. */
  revision: number;
  /** ISO 8601, UTC; null while the catalog is empty. */
  updatedAt: string | null;
  voices: Voice[];
  systemVoices: SystemVoice[];
  /** Null if no choice was ever made. The classic voices then speak. */
  chosen: ChosenVoices | null;
}

/** One partition, `catalog`. */
export const catalog: Projection<CatalogState> = {
  name: "catalog",
  version: 2,
  prefixes: ["catalog"],
  partition: ({ stream }) => (stream === "catalog" ? stream : undefined),
  initial: () => ({ revision: 0, updatedAt: null, voices: [], systemVoices: [], chosen: null }),
  apply: (state, event) => {
    if (!applyChange(state, event)) return state;
    state.revision = event.revision + 1;
    state.updatedAt = (event.data as CatalogEvent["data"]).at;
    return state;
  },
};

/** Returns false for an unknown event. */
const applyChange = (state: CatalogState, { type, data }: RecordedEvent): boolean => {
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
    case "VoicesChosen": {
      const { choice, voices } = event.data;
      state.chosen = { choice, voices };
      return true;
    }
    default:
      return false;
  }
};

const deprecated = <T>(item: T): T => ({ ...item, deprecated: true });

const replace = <T>(items: T[], matches: (item: T) => boolean, change: (item: T) => T): void => {
  const index = items.findIndex(matches);
  const item = items[index];
  if (item) items[index] = change(item);
};
