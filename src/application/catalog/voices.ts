import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import type { NameMatch } from "../../domain/catalog/voice-names.ts";
import { freeEngineOrder } from "../../domain/catalog/voice-resolution.ts";
import { NotFound } from "../../domain/errors.ts";
import { type EngineCode, engineCodes, type SystemVoice, type Voice } from "../../domain/synthesis/speech.ts";
import {
  createPlatformFilter,
  filterVoices,
  type PlatformVoices,
  type VoiceCollection,
  type VoiceFilter,
} from "./filter-voices.ts";
import type { CatalogOf } from "./website-catalog.ts";

/** The voices without those that only browsers have. */
export const spokenVoices = ({ voices, systemVoices }: VoiceCollection): Voice[] => {
  const spoken = new Set(systemVoices.flatMap(({ id, service }) => (service === undefined ? [] : [id])));
  return voices.filter(({ voiceIDs }) => voiceIDs.some((id) => spoken.has(id)));
};

export type Voices = ReturnType<typeof createVoices>;

/** The voices of a website: the shared ones and its BYOK voices. */
export const createVoices = ({
  catalogOf,
  ...known
}: PlatformVoices & {
  readonly catalogOf: CatalogOf;
}) => {
  const withoutMissingVoices = createPlatformFilter(known);

  return {
    /**
     * The voices that match language and gender, without those that the platform is known to lack.
     * If a language or gender is given, only the system voices behind the matching voices are
     * included.
     */
    collection: (websiteId: string, filter: VoiceFilter = {}): VoiceCollection => {
      const { revision, index } = catalogOf(websiteId);
      const { voices, systemVoices } = index;
      return filterVoices(withoutMissingVoices(index, { revision, voices, systemVoices }, filter), filter);
    },
    /** Lists the voices of exactly this language code. */
    inLanguage: (websiteId: string, lang: string): readonly Voice[] =>
      catalogOf(websiteId).index.voicesIn(lang),
    /** The language of the voice; undefined if there is none of that name. */
    languageOf: (websiteId: string, name: string): string | undefined =>
      catalogOf(websiteId).index.voice(name)?.lang,
    /** @throws {NotFound} */
    named: (websiteId: string, name: string): Voice => {
      const voice = catalogOf(websiteId).index.voice(name);
      if (!voice) throw new NotFound("There is no voice of that name.");
      return voice;
    },
    /** True if a request for speech may use this name, alone or with this engine. */
    isNamed: (websiteId: string, name: string, engine?: EngineCode): boolean => {
      const { index } = catalogOf(websiteId);
      const isSpokenHere = ({ service }: SystemVoice): boolean =>
        service !== undefined && (engine === undefined || service === engine);
      const isMatch = ({ kind, voices }: NameMatch): boolean =>
        kind === "system"
          ? voices.some(isSpokenHere)
          : voices.some(({ voiceIDs }) => voiceIDs.some((id) => isSpokenBy(index, id, isSpokenHere)));
      return Iterator.from(index.named(name)).some(isMatch);
    },
    /** True if the engine, or any free engine, speaks the language. */
    speaks: (websiteId: string, lang: string, engine?: EngineCode): boolean =>
      catalogOf(websiteId).index.speakers(engine ? [engine] : freeEngineOrder, lang).length > 0,
    /** The engines that have voices for the website. */
    engines: (websiteId: string): readonly EngineCode[] => {
      const { index } = catalogOf(websiteId);
      return engineCodes.filter((code) => index.spokenBy(code).length > 0);
    },
  };
};

const isSpokenBy = (
  index: CatalogIndex,
  id: number,
  isSpokenHere: (voice: SystemVoice) => boolean,
): boolean => {
  const voice = index.systemVoice(id);
  return voice !== undefined && isSpokenHere(voice);
};
