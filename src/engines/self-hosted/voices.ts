import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import { flagOf } from "../../domain/catalog/flag.ts";
import { freeEngineOrder } from "../../domain/catalog/voice-resolution.ts";
import { type FreeEngine, freeEngines, type SystemVoice, type Voice } from "../../domain/synthesis/speech.ts";
import type { SelfHostedServers, SelfHostedVoice } from "./server.ts";

/** The voices of the operator's servers in the catalog. */
export interface SelfHostedVoices {
  /** Constant: settings do not change while a process runs. */
  readonly revision: string;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}

const provider = "self-hosted";

const prefix = "openai:";

/** The server's name for the voice; undefined for other voices. */
export const remoteName = (voice: string): string | undefined =>
  voice.startsWith(prefix) ? voice.slice(prefix.length) : undefined;

/**
 * The servers' voices, under their own names, with fallbacks from the shared catalog. A name that two engines have is
 * spoken by both, in order; after them by the engine's own voice of that language and gender. Undefined without
 * servers.
 */
export const selfHostedVoices =
  (servers: SelfHostedServers) =>
  (shared: CatalogIndex): SelfHostedVoices | undefined => {
    const all = freeEngines.flatMap((engine) => entriesOf(engine, servers[engine]?.voices ?? []));
    if (all.length === 0) return undefined;
    const byName = Map.groupBy(all, ({ name }) => name);
    return {
      revision: provider,
      voices: [...byName.values()].flatMap((entries) => voiceOf(entries, shared)),
      systemVoices: all.map(systemVoiceOf),
    };
  };

interface Entry extends SelfHostedVoice {
  readonly engine: FreeEngine;
  readonly id: number;
}

/** Above the ids of releases, operators and BYOK voices; more per engine than the list may be long. */
const firstId = 4_000_000;
const idsOfEngine = 10_000;

const entriesOf = (engine: FreeEngine, voices: readonly SelfHostedVoice[]): Entry[] =>
  voices.map((voice, index) => ({
    ...voice,
    engine,
    id: firstId + freeEngines.indexOf(engine) * idsOfEngine + index,
  }));

const systemVoiceOf = ({ id, name, lang, gender, engine }: Entry): SystemVoice => ({
  id,
  name,
  lang,
  fallbackVoice: true,
  service: engine,
  voiceName: `${prefix}${name}`,
  gender,
});

const voiceOf = (entries: readonly Entry[], shared: CatalogIndex): Voice[] => {
  const [first] = entries;
  if (!first) return [];
  const { name, lang, gender } = first;
  const fallbacks = entries.flatMap((entry) => fallbackOf(entry, shared) ?? []);
  const voiceIDs = [...new Set([...entries.map(({ id }) => id), ...fallbacks])];
  return [{ name, flag: flagOf(lang), gender, lang, voiceIDs, provider }];
};

/** The voice while the server is down: the engine's own, or of another free engine if it lacks the language. */
const fallbackOf = (
  { engine, lang, gender }: SelfHostedVoice & Entry,
  shared: CatalogIndex,
): number | undefined => {
  const own = spoken(shared, [engine], lang);
  const speakers = own.length > 0 ? own : spoken(shared, freeEngineOrder, lang);
  return (speakers.find((one) => one.gender === gender) ?? speakers[0])?.id;
};

const spoken = (shared: CatalogIndex, engines: Parameters<CatalogIndex["speakers"]>[0], lang: string) =>
  shared.speakers(engines, lang).filter(({ deprecated }) => !deprecated);
