import { createHash } from "node:crypto";
import type { CatalogIndex } from "../domain/catalog/catalog-index.ts";
import { flagOf } from "../domain/catalog/flag.ts";
import { isNatural } from "../domain/catalog/natural-voices.ts";
import { freeEngineOrder } from "../domain/catalog/voice-resolution.ts";
import type { FreeEngine, ShortGender, SystemVoice, Voice } from "../domain/synthesis/speech.ts";

/** A voice that this instance's settings add to the catalog. */
export interface ConfiguredVoice {
  readonly id: number;
  readonly engine: FreeEngine;
  readonly name: string;
  /** The language tag (BCP-47). */
  readonly lang: string;
  readonly gender: ShortGender;
  /** SystemVoice.voiceName. */
  readonly voiceName: string;
  readonly provider: string;
}

/**
 * Creates a function that lists the voices under their own names, with fallbacks from the shared
 * catalog. It returns undefined if there are none. Entries with the same name are one voice. Their
 * engines are tried in the order of the entries, then the fallbacks of each entry.
 */
export const configuredVoices = (all: readonly ConfiguredVoice[]) => {
  const revision = createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 16);
  return (shared: CatalogIndex) => {
    if (all.length === 0) return undefined;
    const byName = Map.groupBy(all, ({ name }) => name);
    return {
      /** The revision is constant, because settings do not change while a process runs. */
      revision,
      voices: [...byName.values()].flatMap((entries) => voiceOf(entries, shared)),
      systemVoices: all.map(systemVoiceOf),
    };
  };
};

const systemVoiceOf = ({ id, name, lang, gender, engine, voiceName }: ConfiguredVoice): SystemVoice => ({
  id,
  name,
  lang,
  fallbackVoice: true,
  service: engine,
  voiceName,
  gender,
});

const voiceOf = (entries: readonly ConfiguredVoice[], shared: CatalogIndex): Voice[] => {
  const [first] = entries;
  if (!first) return [];
  const { name, lang, gender, provider } = first;
  const fallbacks = entries.flatMap((entry) => fallbacksOf(entry, shared));
  const voiceIDs = [...new Set([...entries.map(({ id }) => id), ...fallbacks])];
  return [{ name, flag: flagOf(lang), gender, lang, voiceIDs, provider }];
};

/**
 * Finds the voices that speak while the configured one fails: the engine's own or, if it lacks the
 * language, those of another free engine. If the first one is natural, one that needs no download
 * follows.
 */
const fallbacksOf = ({ engine, lang, gender }: ConfiguredVoice, shared: CatalogIndex): number[] => {
  const own = spoken(shared, [engine], lang);
  const speakers = own.length > 0 ? own : spoken(shared, freeEngineOrder, lang);
  const best = (some: readonly SystemVoice[]) => some.find((one) => one.gender === gender) ?? some[0];
  const found = [best(speakers), best(speakers.filter((one) => !isNatural(one)))];
  return found.flatMap((one) => one?.id ?? []);
};

const spoken = (shared: CatalogIndex, engines: Parameters<CatalogIndex["speakers"]>[0], lang: string) =>
  shared.speakers(engines, lang).filter(({ deprecated }) => !deprecated);
