import { isVoiceReported } from "../../../projections/platforms.ts";
import type { View } from "../../../projections/runner/view.ts";
import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import { isInRange } from "../../domain/catalog/language-match.ts";
import {
  indexByOwnName,
  isAvailableOn,
  isSameVoice,
  type NativeVoice,
} from "../../domain/catalog/native-voice.ts";
import type { Platform } from "../../domain/catalog/platform.ts";
import {
  type PlatformParameters,
  type PlatformQuery,
  parsePlatform,
} from "../../domain/catalog/platform-names.ts";
import type { NameMatch } from "../../domain/catalog/voice-names.ts";
import { freeEngineOrder } from "../../domain/catalog/voice-resolution.ts";
import { NotFound } from "../../domain/errors.ts";
import {
  type EngineCode,
  engineCodes,
  type GenderName,
  type SystemVoice,
  type Voice,
} from "../../domain/synthesis/speech.ts";
import type { CatalogOf } from "./website-catalog.ts";

/** Voices at one revision of the catalog. */
export interface VoiceCollection {
  /** Changes whenever a voice changes. */
  readonly revision: string;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

export interface VoiceFilter extends PlatformParameters {
  /** A basic language range (RFC 4647). */
  readonly lang?: string | undefined;
  readonly gender?: GenderName | undefined;
}

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

interface PlatformVoices {
  readonly platforms: View<Platform>;
  readonly nativeVoices: readonly NativeVoice[];
}

/** Removes the voices that the platform lacks. */
const createPlatformFilter = ({ platforms, nativeVoices }: PlatformVoices) => {
  const nativesNamed = indexByOwnName(nativeVoices);

  const isKnownOn = (asked: PlatformQuery, voice: SystemVoice): boolean =>
    nativesNamed(voice.name).some((native) => isSameVoice(voice, native) && isAvailableOn(native, asked)) ||
    isVoiceReported(platforms, asked, voice);

  /**
   * True if all system voices behind the voice are native, and none of them is known on the
   * platform.
   */
  const isMissing = (index: CatalogIndex, asked: PlatformQuery, voice: Voice): boolean => {
    const behind = voice.voiceIDs.flatMap((id) => index.systemVoice(id) ?? []);
    if (behind.some(({ service }) => service !== undefined)) return false;
    return behind.length > 0 && !behind.some((native) => isKnownOn(asked, native));
  };

  return (index: CatalogIndex, all: VoiceCollection, platform: PlatformParameters): VoiceCollection => {
    const asked = parsePlatform(platform);
    const missing = asked ? all.voices.filter((voice) => isMissing(index, asked, voice)) : [];
    if (missing.length === 0) return all;
    const leftOut = new Set(missing);
    return {
      ...all,
      revision: `${all.revision} without ${JSON.stringify(missing.map(({ name }) => name))}`,
      voices: all.voices.filter((voice) => !leftOut.has(voice)),
    };
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

const filterVoices = (
  all: VoiceCollection,
  { lang, gender }: Pick<VoiceFilter, "lang" | "gender">,
): VoiceCollection => {
  if (lang === undefined && gender === undefined) return all;
  const short = gender?.charAt(0);
  const langs = new Set(all.voices.map((voice) => voice.lang));
  const wanted = new Set([...langs].filter((one) => lang === undefined || isInRange(one, lang)));
  const voices = all.voices.filter(
    (voice) => wanted.has(voice.lang) && (short === undefined || voice.gender === short),
  );
  const behind = new Set(voices.flatMap(({ voiceIDs }) => voiceIDs));
  return {
    revision: `${all.revision} in ${lang?.toLowerCase()} by ${short}`,
    voices,
    systemVoices: all.systemVoices.filter(({ id }) => behind.has(id)),
  };
};
