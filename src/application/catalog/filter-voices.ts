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
import type { GenderName, SystemVoice, Voice } from "../../domain/synthesis/speech.ts";

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

export interface PlatformVoices {
  readonly platforms: View<Platform>;
  readonly nativeVoices: readonly NativeVoice[];
}

/** Removes the voices that the platform lacks. */
export const createPlatformFilter = ({ platforms, nativeVoices }: PlatformVoices) => {
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

/** Keeps the voices that meet all conditions, and the system voices behind them. */
export const filterVoices = (all: VoiceCollection, filter: VoiceFilter): VoiceCollection => {
  const conditions = conditionsOf(filter, all.voices);
  if (conditions.length === 0) return all;
  const voices = all.voices.filter((voice) => conditions.every(({ isMet }) => isMet(voice)));
  const behind = new Set(voices.flatMap(({ voiceIDs }) => voiceIDs));
  return {
    revision: [all.revision, ...conditions.map(({ key }) => key)].join(" "),
    voices,
    systemVoices: all.systemVoices.filter(({ id }) => behind.has(id)),
  };
};

interface Condition {
  /** Differs from the keys of all other conditions: serialized lists are cached by it. */
  readonly key: string;
  readonly isMet: (voice: Voice) => boolean;
}

/** The conditions of the members that the filter has, without the platform's. */
const conditionsOf = ({ lang, gender }: VoiceFilter, voices: readonly Voice[]): readonly Condition[] => {
  const conditions: Condition[] = [];
  if (lang !== undefined) {
    const langs = new Set(voices.map((voice) => voice.lang));
    const wanted = new Set([...langs].filter((one) => isInRange(one, lang)));
    conditions.push({ key: `in ${lang.toLowerCase()}`, isMet: (voice) => wanted.has(voice.lang) });
  }
  if (gender !== undefined) {
    const short = gender.charAt(0);
    conditions.push({ key: `by ${short}`, isMet: (voice) => voice.gender === short });
  }
  return conditions;
};
