import { LRUCache } from "lru-cache";
import {
  type CatalogState,
  catalogIndexOf,
  catalog as catalogProjection,
} from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/runner.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { type CatalogIndex, indexCatalog } from "../../domain/catalog/catalog-index.ts";
import { indexVoiceNames, mergeVoiceNames } from "../../domain/catalog/voice-names.ts";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";

/** A catalog as one website has it. */
export interface WebsiteCatalog {
  /** The same for the same voices, and another as soon as one of them is another. */
  readonly revision: string;
  readonly index: CatalogIndex;
}

export type CatalogOf = (websiteId: string) => WebsiteCatalog;

/** What is added to the shared voices; `revision` is another whenever the voices are. */
export interface AddedVoices {
  readonly revision: string;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

/** What a website's own providers add. */
export type ByokVoicesOf = (websiteId: string) => AddedVoices | undefined;

/** What this instance's own engines add, to the shared voices as they are now; its system voices go before all others. */
export type ConfiguredVoicesOf = (shared: CatalogIndex) => AddedVoices | undefined;

/** Catalogs of websites with voices of their own that are kept ready. */
const maxCachedCatalogs = 100;

/**
 * The catalogs that requests are spoken from: the shared voices, those of this instance's own engines, and those of the
 * website's own providers. A name means the same voice for everybody who has it: who comes later does not take it over.
 */
export const createWebsiteCatalogs = ({
  catalog,
  byokVoices,
  configuredVoices = () => undefined,
}: {
  catalog: View<CatalogState>;
  byokVoices: ByokVoicesOf;
  configuredVoices?: ConfiguredVoicesOf;
}): CatalogOf => {
  const merged = new LRUCache<string, WebsiteCatalog>({ max: maxCachedCatalogs });
  let shared: { readonly of: number; readonly catalog: WebsiteCatalog } | undefined;

  const sharedCatalog = (): WebsiteCatalog => {
    const state = catalog.get(catalogStream) ?? emptyCatalog;
    if (shared?.of === state.revision) return shared.catalog;
    const index = catalogIndexOf(state);
    const added = configuredVoices(index);
    const revision = String(state.revision);
    shared = {
      of: state.revision,
      catalog: added
        ? { revision: `${revision} ${added.revision}`, index: withAdded(index, added, added.systemVoices) }
        : { revision, index },
    };
    return shared.catalog;
  };

  return (websiteId) => {
    const common = sharedCatalog();
    const own = byokVoices(websiteId);
    if (!own) return common;
    const revision = `${common.revision} ${websiteId} ${own.revision}`;
    const ready = merged.get(websiteId);
    if (ready?.revision === revision) return ready;
    const made = { revision, index: withAdded(common.index, own) };
    merged.set(websiteId, made);
    return made;
  };
};

const withAdded = (
  shared: CatalogIndex,
  added: AddedVoices,
  first: readonly SystemVoice[] = shared.preferred,
): CatalogIndex => {
  const others = added.voices.filter(({ name }) => !shared.voice(name));
  // Two of a website's providers may list the same name.
  const byName = Map.groupBy(others, ({ name }) => name);
  const voices = [...byName.values()].flatMap(([first]) => first ?? []);
  const { systemVoices } = added;
  return {
    ...indexCatalog(
      { voices: [...shared.voices, ...voices], systemVoices: [...shared.systemVoices, ...systemVoices] },
      first,
    ),
    named: mergeVoiceNames(shared.named, indexVoiceNames({ voices, systemVoices })),
  };
};

const emptyCatalog: CatalogState = catalogProjection.initial();
