/**
 * OpenAI's voices, by the names of voices of this service: `OPENAI_VOICE_MAP` changes them. They speak English. The first six,
 * which every client offers, differ from each other; those of flite, which are more natural, come first.
 */
const defaults: Readonly<Record<string, string>> = {
  alloy: "US English Female",
  echo: "US English Male",
  fable: "UK English Male",
  onyx: "Scottish English Male",
  nova: "UK English Female",
  shimmer: "g2-en-US-female",
  ash: "US English Male",
  ballad: "UK English Male",
  cedar: "g2-en-US-male",
  coral: "US English Female",
  marin: "US English Female",
  sage: "UK English Female",
  verse: "US English Male",
};

/** The voices of this service that other names stand for. */
export type VoiceMap = ReadonlyMap<string, string>;

/** `changed`: the operator's entries, which may have further names. */
export const voiceMapOf = (changed: Readonly<Record<string, string>>): VoiceMap =>
  new Map(Object.entries({ ...defaults, ...changed }));

/** The entries of the operator that stand for no voice, so that requests for them are refused. */
export const unknownVoices = (
  changed: Readonly<Record<string, string>>,
  isNamed: (voice: string) => boolean,
): [name: string, voice: string][] => Object.entries(changed).filter(([, voice]) => !isNamed(voice));
