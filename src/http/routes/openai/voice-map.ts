import type { Gender } from "../../../domain/synthesis/speech.ts";

/** A voice of this service that another name stands for. */
interface MappedVoice {
  readonly name: string;
  /**
   * If the text has another language, a voice of this gender replaces the mapped one. Without a
   * gender, the mapped voice speaks all texts.
   */
  readonly gender?: Gender;
}

/** OpenAI's voices speak all languages, so a voice of the same gender may replace these. */
const female = (name: string): MappedVoice => ({ name, gender: "female" });
const male = (name: string): MappedVoice => ({ name, gender: "male" });

/**
 * The voices by OpenAI's names, which `OPENAI_VOICE_MAP` changes. These voices speak English. The
 * first six, which every client offers, differ from each other.
 */
const defaults: Readonly<Record<string, MappedVoice>> = {
  alloy: female("US English Female"),
  echo: male("US English Male"),
  fable: male("UK English Male"),
  onyx: male("Scottish English Male"),
  nova: female("UK English Female"),
  shimmer: female("g2-en-US-female"),
  ash: male("US English Male"),
  ballad: male("UK English Male"),
  cedar: male("g2-en-US-male"),
  coral: female("US English Female"),
  marin: female("US English Female"),
  sage: female("UK English Female"),
  verse: male("US English Male"),
};

/** The voice of requests that name none. */
export const defaultVoice = "alloy";

export interface VoiceMap {
  readonly entries: readonly (readonly [name: string, voice: MappedVoice])[];
  /** Finds a name exactly, or else ignoring case. */
  find(name: string): MappedVoice | undefined;
}

/**
 * `changed`: the operator's entries. They add names, and replace default entries whose names differ
 * at most in case.
 */
export const voiceMapOf = (changed: Readonly<Record<string, string>>): VoiceMap => {
  const pinned = Object.entries(changed).map(([name, voice]) => [ownName(name), { name: voice }] as const);
  const byName = new Map<string, MappedVoice>([...Object.entries(defaults), ...pinned]);
  const byLowerCase = new Map([...byName].map(([name, voice]) => [name.toLowerCase(), voice]));
  return {
    entries: [...byName],
    find: (name) => byName.get(name) ?? byLowerCase.get(name.toLowerCase()),
  };
};

const ownName = (name: string): string =>
  Object.hasOwn(defaults, name.toLowerCase()) ? name.toLowerCase() : name;

/** The entries of the operator that stand for no voice, so that requests for them are refused. */
export const unknownVoices = (
  changed: Readonly<Record<string, string>>,
  isNamed: (voice: string) => boolean,
): [name: string, voice: string][] => Object.entries(changed).filter(([, voice]) => !isNamed(voice));
