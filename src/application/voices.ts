import { wasReported } from "../../projections/platforms.ts";
import type { View } from "../../projections/runner.ts";
import type { CatalogIndex } from "../domain/catalog-index.ts";
import { NotFound } from "../domain/errors.ts";
import { isNative, isOn, isSameVoice, type NativeVoice } from "../domain/native-voice.ts";
import type { Platform } from "../domain/platform.ts";
import { type PlatformAsked, type PlatformSaid, platformAsked } from "../domain/platform-names.ts";
import type { SystemVoice, Voice } from "../domain/speech.ts";
import type { CatalogOf } from "./website-catalog.ts";

/** Voices as of a state of the catalog. */
export interface VoiceCollection {
  /** The same for the same voices, and another as soon as one of them is another. */
  readonly revision: string;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

/** The voices that a website has: the shared ones, and those of its own providers. */
export interface Voices {
  /** All of them, or without those that the platform is not known to have. */
  collection(websiteId: string, platform?: PlatformSaid): VoiceCollection;
  /** Those of exactly this language code. */
  inLanguage(websiteId: string, lang: string): readonly Voice[];
  /** @throws {NotFound} */
  named(websiteId: string, name: string): Voice;
}

export const createVoices = ({
  catalogOf,
  platforms,
  nativeVoices,
}: {
  catalogOf: CatalogOf;
  platforms: View<Platform>;
  /** The table of what browsers bring with them. */
  nativeVoices: readonly NativeVoice[];
}): Voices => {
  const isKnownOn = (asked: PlatformAsked, voice: SystemVoice): boolean =>
    nativeVoices.some((native) => isSameVoice(voice, native) && isOn(native, asked)) ||
    wasReported(platforms, asked, voice);

  /** Whether nobody speaks it there: every voice behind it is a native one, and none is known to be there. */
  const isMute = (index: CatalogIndex, asked: PlatformAsked, { voiceIDs }: Voice): boolean => {
    const behind = voiceIDs.flatMap((id) => index.systemVoice(id) ?? []);
    return behind.length > 0 && behind.every((voice) => isNative(voice) && !isKnownOn(asked, voice));
  };

  return {
    collection: (websiteId, platform = {}) => {
      const { revision, index } = catalogOf(websiteId);
      const { voices, systemVoices } = index;
      const asked = platformAsked(platform);
      const mute = asked ? voices.filter((voice) => isMute(index, asked, voice)) : [];
      if (mute.length === 0) return { revision, voices, systemVoices };
      const leftOut = new Set(mute);
      return {
        revision: `${revision} without ${JSON.stringify(mute.map(({ name }) => name))}`,
        voices: voices.filter((voice) => !leftOut.has(voice)),
        systemVoices,
      };
    },
    inLanguage: (websiteId, lang) => catalogOf(websiteId).index.voicesIn(lang),
    named: (websiteId, name) => {
      const voice = catalogOf(websiteId).index.voice(name);
      if (!voice) throw new NotFound("There is no voice of that name.");
      return voice;
    },
  };
};
