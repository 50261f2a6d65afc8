import type { CatalogState } from "../../../projections/catalog.ts";
import { type CatalogIndex, indexCatalog } from "../../domain/catalog/catalog-index.ts";
import { withNaturalVoices } from "../../domain/catalog/natural-voices.ts";

const indexes = new WeakMap<CatalogState, { revision: number; index: CatalogIndex }>();

/**
 * Returns an index of the state, with the natural voices that were chosen. It is built on first use
 * for each revision.
 */
export const catalogIndexOf = (state: CatalogState): CatalogIndex => {
  const known = indexes.get(state);
  if (known?.revision === state.revision) return known.index;
  const mixed = withNaturalVoices(state, state.chosen?.voices ?? []);
  const index = indexCatalog(mixed, mixed.preferred);
  indexes.set(state, { revision: state.revision, index });
  return index;
};
