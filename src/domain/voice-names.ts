import type { SystemVoice, Voice } from "./speech.ts";

/** Voices of one kind that share a name; never empty. */
export type NameMatch =
  | { readonly kind: "system"; readonly voices: readonly SystemVoice[] }
  | { readonly kind: "friendly"; readonly voices: readonly Voice[] };

/** What a name may mean, the best match first. */
export type VoiceNames = (name: string) => readonly NameMatch[];

/**
 * Looks names up exactly, then ignoring case; each time among system voices' names, then the engines' own names for
 * them, then friendly names. Native voices are left out: the service cannot speak them. Indexed at the first look-up.
 */
export const indexVoiceNames = ({
  voices,
  systemVoices,
}: {
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}): VoiceNames => {
  let lookUps: readonly VoiceNames[] | undefined;
  const index = (fold: (name: string) => string): VoiceNames => {
    const spoken = systemVoices.filter(({ service }) => service !== undefined);
    const byName = Map.groupBy(spoken, ({ name }) => fold(name));
    const byVoiceName = Map.groupBy(spoken, ({ voiceName }) => voiceName && fold(voiceName));
    const byFriendlyName = Map.groupBy(voices, ({ name }) => fold(name));
    return (name) => {
      const key = fold(name);
      const matches: NameMatch[] = [
        { kind: "system", voices: byName.get(key) ?? [] },
        { kind: "system", voices: byVoiceName.get(key) ?? [] },
        { kind: "friendly", voices: byFriendlyName.get(key) ?? [] },
      ];
      return matches.filter((match) => match.voices.length > 0);
    };
  };
  return (name) => {
    lookUps ??= [index((one) => one), index((one) => one.toLowerCase())];
    return lookUps.flatMap((lookUp) => lookUp(name));
  };
};
