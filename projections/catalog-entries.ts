import type { CatalogEvent, ChosenVoices } from "../src/domain/catalog/catalog.ts";
import type { SystemVoice, Voice } from "../src/domain/synthesis/speech.ts";
import type { Projection } from "./projection.ts";

/** A voice, a system voice, or the choice of natural voices, as the catalog's events left it. */
export interface CatalogEntry {
  /** The number of the catalog's events up to the last one that changed this entry. */
  revision: number;
  /** ISO 8601, UTC; null before the first event. */
  updatedAt: string | null;
  entry: Voice | SystemVoice | ChosenVoices | null;
}

/**
 * The catalog in partitions: `voice-{name}`, `system-voice-{id}` and `choice`. EventStoreDB servers
 * run this projection. They write a partition's whole state after each of its events, so the
 * catalog must not be one state. The service's view is in `catalog.ts`.
 */
export const catalogEntries: Projection<CatalogEntry> = {
  name: "catalog-entries",
  version: 3,
  prefixes: ["catalog"],
  partition: ({ stream, type, data }) =>
    stream === "catalog" ? partitionOf({ type, data } as CatalogEvent) : undefined,
  initial: () => ({ revision: 0, updatedAt: null, entry: null }),
  apply: (state, { type, data, revision }) => {
    const event = { type, data } as CatalogEvent;
    const entry = entryAfter(state.entry, event);
    return entry === undefined ? state : { revision: revision + 1, updatedAt: event.data.at, entry };
  },
};

const partitionOf = ({ type, data }: CatalogEvent): string | undefined => {
  switch (type) {
    case "SystemVoiceAdded":
      return `system-voice-${data.systemVoice.id}`;
    case "SystemVoiceDeprecated":
      return `system-voice-${data.id}`;
    case "VoiceAdded":
    case "VoiceChanged":
      return `voice-${data.voice.name}`;
    case "VoiceDeprecated":
      return `voice-${data.name}`;
    case "VoicesChosen":
      return "choice";
    default:
      return undefined;
  }
};

/** Returns undefined for a change of an entry that was never added. */
const entryAfter = (
  before: CatalogEntry["entry"],
  { type, data }: CatalogEvent,
): CatalogEntry["entry"] | undefined => {
  switch (type) {
    case "SystemVoiceAdded":
      return data.systemVoice;
    case "VoiceAdded":
      return data.voice;
    case "VoiceChanged":
      return before === null ? undefined : data.voice;
    case "SystemVoiceDeprecated":
    case "VoiceDeprecated":
      return before === null
        ? undefined
        : (Object.assign({}, before, { deprecated: true }) as Voice | SystemVoice);
    case "VoicesChosen":
      return { choice: data.choice, voices: data.voices };
    default:
      return undefined;
  }
};
