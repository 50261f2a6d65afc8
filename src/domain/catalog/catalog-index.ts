import type { EngineCode, SystemVoice, Voice } from "../synthesis/speech.ts";
import { isSameLanguage, matchLanguage } from "./language-match.ts";
import { type CatalogVoices, indexVoiceNames, type VoiceNames } from "./voice-names.ts";

/** An index of a catalog: the shared one, or a website's with its BYOK voices. */
export interface CatalogIndex {
  /** Voices in the order in which they were added. */
  readonly voices: readonly Voice[];
  /** System voices by id. */
  readonly systemVoices: readonly SystemVoice[];
  /** Finds a voice by its exact name. */
  voice(name: string): Voice | undefined;
  /** Lists the voices of exactly this language code, which is case-sensitive. */
  voicesIn(lang: string): readonly Voice[];
  systemVoice(id: number): SystemVoice | undefined;
  /** The voices that the `name` of a request may refer to. */
  readonly named: VoiceNames;
  /** System voices that precede all others of their engine. */
  readonly preferred: readonly SystemVoice[];
  /** The engine's system voices: the preferred ones, then the others, by id. */
  spokenBy(engine: EngineCode): readonly SystemVoice[];
  /**
   * Lists the engines' system voices whose language matches best. If no language matches, it lists
   * those that speak any language. If there are none either, it lists those that speak the friendly
   * voices whose language matches best.
   */
  speakers(engines: readonly EngineCode[], lang: string): readonly SystemVoice[];
}

/** Results are cached, because matching takes microseconds and requests repeat languages. */
const cacheLimits = { results: 1000, longestLang: 35 };

/** Indexes a catalog. The later of two entries with the same name or id is used. */
export const indexCatalog = (
  catalog: CatalogVoices,
  preferred: readonly SystemVoice[] = [],
): CatalogIndex => {
  const byName = new Map(catalog.voices.map((voice) => [voice.name, voice]));
  const voices = [...byName.values()];
  const byLang = Map.groupBy(voices, ({ lang }) => lang);
  const byId = new Map(catalog.systemVoices.map((systemVoice) => [systemVoice.id, systemVoice]));
  const systemVoices = [...byId.values()].sort((a, b) => a.id - b.id);
  const preferredIds = new Set(preferred.map(({ id }) => id));
  const others = systemVoices.filter(({ id }) => !preferredIds.has(id));
  const byEngine = Map.groupBy([...preferred, ...others], ({ service }) => service);
  const spokenBy = (engine: EngineCode) => byEngine.get(engine) ?? [];
  const results = new Map<string, readonly SystemVoice[]>();
  return {
    voices,
    systemVoices,
    preferred,
    voice: (name) => byName.get(name),
    voicesIn: (lang) => byLang.get(lang) ?? [],
    systemVoice: (id) => byId.get(id),
    named: indexVoiceNames({ voices, systemVoices }),
    spokenBy,
    speakers: (engines, lang) => {
      const key = `${engines.join()} ${lang}`;
      const known = results.get(key);
      if (known) return known;
      const spoken = engines.flatMap(spokenBy);
      const found = speakersOf(spoken, lang);
      const result = found.length > 0 ? found : speakersOfVoices(voices, spoken, lang);
      if (results.size >= cacheLimits.results) results.clear();
      if (lang.length <= cacheLimits.longestLang) results.set(key, result);
      return result;
    },
  };
};

const speakersOf = (all: readonly SystemVoice[], wanted: string): readonly SystemVoice[] => {
  const langs = new Set(all.flatMap(({ lang }) => lang ?? []));
  const matched = matchLanguage(wanted, [...langs]);
  return all.filter(({ lang }) => lang === matched || (lang && matched && isSameLanguage(lang, matched)));
};

/**
 * Some languages have friendly voices, but no engine has a voice of its own for them. This finds
 * the system voices that speak them: for example, Indonesian system voices speak Filipino.
 */
const speakersOfVoices = (
  voices: readonly Voice[],
  spoken: readonly SystemVoice[],
  wanted: string,
): readonly SystemVoice[] => {
  const matched = matchLanguage(wanted, [...new Set(voices.map(({ lang }) => lang))]);
  const ids = new Set(voices.filter(({ lang }) => lang === matched).flatMap(({ voiceIDs }) => voiceIDs));
  return spoken.filter(({ id }) => ids.has(id));
};
