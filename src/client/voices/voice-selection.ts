import type { WebsiteVoice } from "../api/website-config.ts";
import type { Configuration } from "../constructor-options.ts";
import { memoizeAsync } from "../memoize-async.ts";
import type { SpokenPart } from "../playback/speech-backend.ts";
import type { Prosody } from "../prosody.ts";
import type { SpeakParams } from "../speech.ts";
import { loadTextParts, type TextSection } from "../text-parts.ts";
import type { VoiceRequest } from "../transport/transport.ts";
import { canonicalTag, languagesOf, primaryLanguage } from "./text-language.ts";

interface VoiceSelectionOptions {
  readonly configuration: Pick<Configuration, "defaultVoice" | "defaultLang">;
  /** The language of a voice, if it is known. */
  readonly languageOf: (voice: string) => Promise<string | undefined>;
}

/** The voice that is named, or else the voice of a language. */
type NamedVoice = Pick<VoiceRequest, "voice" | "lang">;

/**
 * Divides sections into parts, each with its voice. A voice or a language that the caller names
 * speaks everything. Otherwise the configured voice speaks everything in its own language, and
 * another language is spoken by the voice that the service has for it. Without the website's voice,
 * as long as the service cannot be asked, a part may have no voice, but a language.
 */
export const createVoiceSelection =
  ({ configuration, languageOf }: VoiceSelectionOptions) =>
  async (
    sections: readonly TextSection[],
    params: SpeakParams,
    website: WebsiteVoice | undefined,
  ): Promise<SpokenPart[]> => {
    const { defaultLang } = configuration;
    const prosody: Prosody = {
      pitch: params.pitch ?? website?.pitch ?? 1,
      rate: params.rate ?? website?.rate ?? 1,
      volume: params.volume ?? website?.volume ?? 1,
    };
    const configured = configuredVoice(params, configuration, website);
    const ownLanguage = memoizeAsync(async () =>
      configured.voice === undefined || !website
        ? configured.lang
        : await languageOf(configured.voice).catch(() => undefined),
    );

    const wishFor = ({ voice = params.voice, lang = params.lang }: TextSection): VoiceRequest | undefined =>
      voice === undefined && params.lang === undefined
        ? undefined
        : { voice, lang: params.lang, prosody, textLang: lang };

    const select = async (lang: string | undefined): Promise<VoiceRequest> => {
      const request = { ...configured, prosody, textLang: lang };
      const own = lang === undefined ? undefined : await ownLanguage();
      if (lang === undefined || own === undefined || isSameSpeech(own, lang)) return request;
      return { voice: undefined, lang, prosody, textLang: lang, otherwise: request };
    };

    const wishes = sections.map(wishFor);
    const doubtful = sections.filter((_, index) => !wishes[index]);
    const languages = await languagesOf(doubtful.map(({ text, lang = defaultLang }) => ({ text, lang })));
    const languageOfSection = new Map(doubtful.map((section, index) => [section, languages[index]]));
    const voices = await Promise.all(
      sections.map((section, index) => wishes[index] ?? select(languageOfSection.get(section))),
    );
    const parts = await loadTextParts(
      sections.map((section, index) => inLanguage(section, voices[index]?.textLang)),
    );
    return voices.flatMap((voice, index) => (parts[index] ?? []).map((part) => ({ part, voice })));
  };

/** The voice of the call, or else of the page, or else of the website. */
const configuredVoice = (
  params: SpeakParams,
  { defaultVoice, defaultLang }: VoiceSelectionOptions["configuration"],
  website: WebsiteVoice | undefined,
): NamedVoice => {
  const voice = params.defaultVoice ?? defaultVoice;
  if (voice !== undefined) return { voice, lang: undefined };
  return defaultLang === undefined
    ? { voice: website?.name, lang: undefined }
    : { voice: undefined, lang: defaultLang };
};

/** Keeps the spans in other languages. */
const inLanguage = (section: TextSection, lang: string | undefined): TextSection => {
  const spans = section.spans?.flatMap((span) => {
    const spoken = canonicalTag(span.lang);
    const isForeign = spoken !== undefined && lang !== undefined && !isSameSpeech(spoken, lang);
    return isForeign ? [{ ...span, lang: spoken }] : [];
  });
  return { ...section, lang, spans };
};

const isSameSpeech = (one: string, other: string): boolean => primaryLanguage(one) === primaryLanguage(other);
