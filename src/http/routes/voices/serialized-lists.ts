import { LRUCache } from "lru-cache";
import { spokenVoices, type Voices } from "../../../application/catalog/voices.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { type TaggedContent, taggedJson } from "../../kernel/tagged-content.ts";

/** There is one list for each catalog. */
const maxCachedLists = 50;

/**
 * The list of the voices that the service speaks for a website, as an API presents it. It is
 * serialized once per catalog.
 */
export const createSerializedLists = (
  voices: Pick<Voices, "collection">,
  present: (spoken: readonly Voice[], websiteId: string) => object,
) => {
  const lists = new LRUCache<string, TaggedContent, () => object>({
    max: maxCachedLists,
    memoMethod: (_, __, { context }) => taggedJson(context()),
  });
  return (websiteId: string): TaggedContent => {
    const collection = voices.collection(websiteId);
    return lists.memo(collection.revision, { context: () => present(spokenVoices(collection), websiteId) });
  };
};
