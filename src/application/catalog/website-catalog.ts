import { LRUCache } from "lru-cache";
import { type CatalogState, catalog as catalogProjection } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/view.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { type CatalogIndex, indexCatalog } from "../../domain/catalog/catalog-index.ts";
import { indexVoiceNames, mergeVoiceNames } from "../../domain/catalog/voice-names.ts";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import { catalogIndexOf } from "./catalog-index-of.ts";

/** The catalog of one website. */
interface WebsiteCatalog {
  /** Changes whenever a voice changes. */
  readonly revision: string;
  readonly index: CatalogIndex;
}

export type CatalogOf = (websiteId: string) => WebsiteCatalog;

/**
 * Stands for a website without voices of its own: no website has this id, so its catalog is the
 * shared one.
 */
export const sharedCatalog = "";

/** Voices in addition to the shared ones. `revision` changes with the voices. */
export interface AddedVoices {
  readonly revision: string;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

/** The BYOK voices of a website. */
export type ByokVoicesOf = (websiteId: string) => AddedVoices | undefined;

/**
 * The voices of this instance's self-hosted servers and models. Their system voices precede all
 * others.
 */
type ConfiguredVoicesOf = (shared: CatalogIndex) => AddedVoices | undefined;

/** Only the catalogs of websites with BYOK voices are cached. */
const maxCachedCatalogs = 100;

/**
 * Creates the catalogs in which requests are resolved. Each has the shared voices, the voices of
 * this instance's self-hosted servers and models, and the website's BYOK voices. An added voice
 * never replaces a shared one of the same name.
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

  const currentShared = (): WebsiteCatalog => {
    const state = catalog.get(catalogStream) ?? emptyCatalog;
    if (shared?.of === state.revision) return shared.catalog;
    const index = catalogIndexOf(state);
    const added = configuredVoices(index);
    const revision = String(state.revision);
    shared = {
      of: state.revision,
      catalog: added
        ? {
            revision: `${revision} ${added.revision}`,
            index: withAdded(index, added, [...added.systemVoices, ...index.preferred]),
          }
        : { revision, index },
    };
    return shared.catalog;
  };

  return (websiteId) => {
    const common = currentShared();
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
  // Two providers of a website may list the same name.
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
