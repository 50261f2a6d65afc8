import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import { installableVoices, installCommand, isNatural } from "../../domain/catalog/natural-voices.ts";
import { type Quality, voiceEngine } from "../../domain/catalog/voice-engines.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import type { EngineCode, ShortGender, SystemVoice, Voice } from "../../domain/synthesis/speech.ts";

/** A friendly voice, and who speaks it on this instance. */
export interface SpeakingVoice {
  readonly name: string;
  readonly lang: string;
  readonly gender: ShortGender;
  readonly engine: EngineCode;
  readonly voiceName: string;
  /** The program or model that speaks. */
  readonly speaker: string;
  readonly quality: Quality;
  /** Says what would make it better. */
  readonly better?: string;
}

/** The natural voices that this instance can speak, and those that its installation has chosen. */
interface VoiceAvailability {
  readonly isInstalled: (voiceName: string) => boolean;
  readonly chosen: readonly string[];
}

/**
 * Lists voices in the order of the catalog, without those that only browsers or websites' own
 * providers speak.
 */
export const speakingVoices = (index: CatalogIndex, availability: VoiceAvailability): SpeakingVoice[] =>
  index.voices.flatMap((voice) => {
    const spokenBy = speakerOf(voice, index, availability);
    if (!spokenBy) return [];
    const { name, lang, gender } = voice;
    const { service: engine, voiceName } = spokenBy;
    const { name: speaker, quality } = voiceEngine(voiceName);
    const better = improvementOf(spokenBy, availability);
    return [{ name, lang, gender, engine, voiceName, speaker, quality, ...(better && { better }) }];
  });

type Speaker = SystemVoice & Required<Pick<SystemVoice, "service" | "voiceName">>;

const speakerOf = (
  { voiceIDs }: Voice,
  index: CatalogIndex,
  { isInstalled }: VoiceAvailability,
): Speaker | undefined => {
  const voices = voiceIDs.flatMap((id) => index.systemVoice(id) ?? []);
  return voices.find((one): one is Speaker => {
    if (one.service === undefined || one.voiceName === undefined || isByok(one.service)) return false;
    return !isNatural(one) || isInstalled(one.voiceName);
  });
};

const choose = "voxledger voices use natural";
const installable = installableVoices();

/** Names the command that gives a better voice of the same language and gender. */
const improvementOf = (
  { voiceName, lang, gender }: Speaker,
  { isInstalled, chosen }: VoiceAvailability,
): string | undefined => {
  const ranked = installable.filter((one) => one.lang === lang && one.gender === gender);
  const rank = ranked.findIndex((one) => one.voiceName === voiceName);
  const [best] = rank < 0 ? ranked : ranked.slice(0, rank);
  if (!best) return undefined;
  const steps = [
    isInstalled(best.voiceName) ? [] : installCommand([best.voiceName]),
    chosen.includes(best.voiceName) ? [] : choose,
  ].flat();
  return steps.length === 0 ? undefined : `${best.voiceName}: ${steps.join(", then ")}`;
};
