import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { z } from "zod";
import type { VoiceCollection } from "../../../application/catalog/filter-voices.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { websocketUrl } from "../../kernel/public-url.ts";
import { type TaggedContent, taggedJson, tagOf } from "../../kernel/tagged-content.ts";
import type { VoiceLinks } from "./schemas.ts";

/**
 * The size of the cache of serialized lists. A list has up to half a megabyte, and one exists per
 * base URL.
 */
const maxCachedBytes = 32 * 1024 * 1024;

/** This is added to the size of each list, so that the number of short lists is bounded too. */
const overheadBytes = 1_000;

interface Serialized {
  /** A JSON object without its closing brace. */
  readonly text: Buffer;
  readonly digest: string;
}

/**
 * Presents voices with their links, absolute under `base`. Whole lists are serialized once per
 * revision and base.
 */
export const createVoicePresenter = () => {
  const cache = new LRUCache<string, Serialized, () => object>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ text }, key) => text.length + key.length + overheadBytes,
    memoMethod: (_, __, { context: present }) => {
      const text = Buffer.from(JSON.stringify(present()).slice(0, -1));
      return { text, digest: hash("sha256", text, "base64url") };
    },
  });
  const serialized = (key: string, present: () => object) => cache.memo(key, { context: present });

  const serializedList = (base: string, collection: VoiceCollection): Serialized =>
    serialized(`list ${base} ${collection.revision}`, () => ({
      voices: collection.voices.map((voice) => withLinks(base, voice)),
      ...restOf(collection),
    }));

  return {
    /**
     * Returns a VoicesListResponse. `query` appears only in the link at the end, which the tag can
     * ignore: a tag is compared only with tags of the same URL (RFC 9110, section 8.8.1).
     */
    list: (base: string, collection: VoiceCollection, query: object): TaggedContent => {
      const { text, digest } = serializedList(base, collection);
      const _links = { self: collectionLink(base, new URLSearchParams({ ...query }).toString()) };
      const end = `,"_links":${JSON.stringify(_links)}}`;
      return { body: Buffer.concat([text, Buffer.from(end)]), etag: tagOf(digest) };
    },

    /** Returns a VoiceReportResponse, with the tag of the list of the same voices. */
    report: (base: string, collection: VoiceCollection): TaggedContent => {
      const { text } = serialized(`report ${collection.revision}`, () => ({
        voices: collection.voices,
        ...restOf(collection),
      }));
      const { digest } = serializedList(base, collection);
      return { body: Buffer.concat([text, Buffer.from("}")]), etag: tagOf(digest) };
    },

    /** Returns a VoicesByLanguageResponse. */
    byLanguage: (base: string, language: string, voices: readonly Voice[]): TaggedContent =>
      taggedJson({
        language,
        voices: voices.map((voice) => withLinks(base, voice)),
        count: voices.length,
        _links: { self: languageLink(base, language), allVoices: collectionLink(base) },
      }),

    /** Returns a VoiceDetailResponse. */
    detail: (base: string, voice: Voice): TaggedContent => {
      const collection = collectionLink(base);
      const byLanguage = languageLink(base, voice.lang);
      return taggedJson({ voice, _links: { ...linksOf(base, voice), collection, byLanguage } });
    },
  };
};

const restOf = ({ voices, systemVoices }: VoiceCollection) => ({ systemVoices, count: voices.length });

const withLinks = (base: string, voice: Voice) => ({ ...voice, _links: linksOf(base, voice) });

const linksOf = (base: string, { name, lang, isByok }: Voice): z.output<typeof VoiceLinks> => {
  const synthesize = `${base}/v2/text/synthesize`;
  const premium = isByok === true;
  return {
    self: { href: `${base}/v2/voices/${encodeURIComponent(name)}` },
    synthesize: { href: synthesize, method: "POST", body: { voice: name, lang } },
    "synthesize:stream": {
      href: synthesize,
      method: "POST",
      body: { voice: name, lang, stream: true },
      accept: "text/event-stream",
      premium,
    },
    "stream:websocket": {
      href: `${websocketUrl(base)}/v2/text/stream`,
      protocol: "websocket",
      message: { type: "synthesize", voice: name, lang },
      premium,
    },
  };
};

const collectionLink = (base: string, query = "") => ({
  href: `${base}/v2/voices${query === "" ? "" : `?${query}`}`,
});

const languageLink = (base: string, lang: string) => ({
  href: `${base}/v2/voices/by-language/${encodeURIComponent(lang)}`,
});
