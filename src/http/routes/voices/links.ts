import type { z } from "zod";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { websocketUrl } from "../../kernel/public-url.ts";
import type { ByLanguageLinks, CollectionLinks, VoiceDetailLinks, VoiceLinks } from "./schemas.ts";

/** Links of voices. All are absolute, under `base`. */

export const voiceLinks = (base: string, { name, lang, isByok }: Voice): z.output<typeof VoiceLinks> => {
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

export const voiceDetailLinks = (base: string, voice: Voice): z.output<typeof VoiceDetailLinks> => ({
  ...voiceLinks(base, voice),
  collection: collectionLink(base),
  byLanguage: languageLink(base, voice.lang),
});

/** `query`: the parameters that the collection was asked for with. */
export const collectionLinks = (base: string, query: object): z.output<typeof CollectionLinks> => ({
  self: collectionLink(base, new URLSearchParams({ ...query }).toString()),
});

export const byLanguageLinks = (base: string, lang: string): z.output<typeof ByLanguageLinks> => ({
  self: languageLink(base, lang),
  allVoices: collectionLink(base),
});

const collectionLink = (base: string, query = "") => ({
  href: `${base}/v2/voices${query === "" ? "" : `?${query}`}`,
});

const languageLink = (base: string, lang: string) => ({
  href: `${base}/v2/voices/by-language/${encodeURIComponent(lang)}`,
});
