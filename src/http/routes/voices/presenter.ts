import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { VoiceCollection } from "../../../application/catalog/voices.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { type TaggedJson, taggedJson, tagOf } from "../../caching/tagged-json.ts";
import { byLanguageLinks, collectionLinks, voiceDetailLinks, voiceLinks } from "./links.ts";

/** Lists that are kept written out: up to half a megabyte each, for each address that the service is asked under. */
const writtenBytes = 32 * 1024 * 1024;

/** What an entry needs beside its text, so that the number of short lists is bounded too. */
const overheadBytes = 1_000;

interface Written {
  /** A JSON object without its end. */
  readonly text: Buffer;
  readonly digest: string;
}

/** Writes answers about voices. Whole lists are written once for each revision and address. */
export const createVoicePresenter = () => {
  const written = new LRUCache<string, Written>({
    maxSize: writtenBytes,
    sizeCalculation: ({ text }, key) => text.length + key.length + overheadBytes,
  });

  const writtenOnce = (key: string, write: () => object): Written => {
    const known = written.get(key);
    if (known) return known;
    const text = Buffer.from(JSON.stringify(write()).slice(0, -1));
    const fresh = { text, digest: hash("sha256", text, "base64url") };
    written.set(key, fresh);
    return fresh;
  };

  const listed = (base: string, collection: VoiceCollection): Written =>
    writtenOnce(`list ${base} ${collection.revision}`, () => ({
      voices: collection.voices.map((voice) => ({ ...voice, _links: voiceLinks(base, voice) })),
      ...restOf(collection),
    }));

  return {
    /**
     * VoicesListResponse. `query`: the parameters that were used. They decide the link at the end, which the tag can leave
     * out: a tag is compared with those of the same address only (RFC 9110, 8.8.1).
     */
    list: (base: string, collection: VoiceCollection, query: object): TaggedJson => {
      const { text, digest } = listed(base, collection);
      const end = `,"_links":${JSON.stringify(collectionLinks(base, query))}}`;
      return { body: Buffer.concat([text, Buffer.from(end)]), etag: tagOf(digest) };
    },

    /** VoiceReportResponse, with the tag that the list of the same voices has. */
    report: (base: string, collection: VoiceCollection): TaggedJson => {
      const { text } = writtenOnce(`report ${collection.revision}`, () => ({
        voices: collection.voices,
        ...restOf(collection),
      }));
      const { digest } = listed(base, collection);
      return { body: Buffer.concat([text, Buffer.from("}")]), etag: tagOf(digest) };
    },

    /** VoicesByLanguageResponse. */
    byLanguage: (base: string, language: string, voices: readonly Voice[]): TaggedJson =>
      taggedJson({
        language,
        voices: voices.map((voice) => ({ ...voice, _links: voiceLinks(base, voice) })),
        count: voices.length,
        _links: byLanguageLinks(base, language),
      }),

    /** VoiceDetailResponse. */
    detail: (base: string, voice: Voice): TaggedJson =>
      taggedJson({ voice, _links: voiceDetailLinks(base, voice) }),
  };
};

const restOf = ({ voices, systemVoices }: VoiceCollection) => ({ systemVoices, count: voices.length });
