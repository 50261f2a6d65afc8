import type { SystemVoice, Voice } from "../synthesis/speech.ts";

/** Voices of one kind that share a name; never empty. */
export type NameMatch =
  | { readonly kind: "system"; readonly voices: readonly SystemVoice[] }
  | { readonly kind: "friendly"; readonly voices: readonly Voice[] };

/** Looks a name up, best match first. A match is computed only when the iteration reaches it. */
export type VoiceNames = (name: string) => Iterable<NameMatch>;

/** The voices of a catalog. */
export interface CatalogVoices {
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

/**
 * Looks names up exactly, then ignoring case; each time among system voices' names, then the
 * engines' own names for them, then friendly names. Native voices are left out, because the service
 * cannot speak them. Each index is built at its first look-up.
 */
export const indexVoiceNames = (catalog: CatalogVoices): VoiceNames => {
  const lookUps = [indexedBy(catalog, (name) => name), indexedBy(catalog, foldCase)];
  return function* (name) {
    for (const lookUp of lookUps) yield* lookUp(name);
  };
};

/**
 * Every match in `shared` comes first, even one that differs in case: a URL without credentials
 * must give every website the same audio, because shared caches may respond.
 */
export const mergeVoiceNames = (shared: VoiceNames, added: VoiceNames): VoiceNames =>
  function* (name) {
    yield* shared(name);
    yield* added(name);
  };

/**
 * Approximates Unicode's full case folding, which JavaScript lacks: `ß` equals `SS`, a final sigma
 * equals any other. Names that differ in Unicode normalisation alone are equal too.
 */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase().normalize("NFC");

const indexedBy = ({ voices, systemVoices }: CatalogVoices, keyOf: (name: string) => string): VoiceNames => {
  let find: VoiceNames | undefined;
  const build = (): VoiceNames => {
    const spoken = systemVoices.filter(({ service }) => service !== undefined);
    const byName = Map.groupBy(spoken, ({ name }) => keyOf(name));
    const byVoiceName = Map.groupBy(spoken, ({ voiceName }) => voiceName && keyOf(voiceName));
    const byFriendlyName = Map.groupBy(voices, ({ name }) => keyOf(name));
    return (name) => {
      const key = keyOf(name);
      const matches: NameMatch[] = [
        { kind: "system", voices: byName.get(key) ?? [] },
        { kind: "system", voices: byVoiceName.get(key) ?? [] },
        { kind: "friendly", voices: byFriendlyName.get(key) ?? [] },
      ];
      return matches.filter((match) => match.voices.length > 0);
    };
  };
  return (name) => {
    find ??= build();
    return find(name);
  };
};
