import { LRUCache } from "lru-cache";
import type { View } from "../../../projections/runner/view.ts";
import { type Credentials, credentialsStream } from "../../domain/accounts/credentials.ts";
import type { ListedVoice } from "../../domain/accounts/event-shapes.ts";
import { flagOf } from "../../domain/catalog/flag.ts";
import { type ByokEngine, byokEngines, byokProviders } from "../../domain/synthesis/byok-providers.ts";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import type { AddedVoices, ByokVoicesOf } from "./website-catalog.ts";

const maxCachedWebsites = 100;

/**
 * The voices of websites' own providers. For a website without credentials, they cost one look-up
 * in the view.
 */
export const createByokVoices = (credentials: View<Credentials>): ByokVoicesOf => {
  const ready = new LRUCache<string, { state: Credentials; own: AddedVoices | undefined }>({
    max: maxCachedWebsites,
  });
  return (websiteId) => {
    const state = credentials.get(credentialsStream(websiteId));
    if (!state) return undefined;
    const known = ready.get(websiteId);
    if (known?.state === state) return known.own;
    const own = byokVoices(state);
    ready.set(websiteId, { state, own });
    return own;
  };
};

/** A listed voice and its engine. */
interface ByokVoice extends ListedVoice {
  readonly engine: ByokEngine;
  readonly provider: string;
  readonly id: number;
}

const byokVoices = ({ byEngine }: Credentials): AddedVoices | undefined => {
  const revisions = byokEngines.flatMap((engine) => byEngine[engine]?.revision ?? []);
  if (revisions.length === 0) return undefined;
  const all = byokEngines.flatMap((engine): ByokVoice[] => {
    const { provider = "", voices = [] } = byEngine[engine] ?? {};
    return voices.map((listed, index) => ({
      ...listed,
      engine,
      provider,
      id: byokProviders[engine].firstVoiceId + index,
    }));
  });
  return {
    revision: revisions.join("."),
    voices: all.map(voiceOf),
    systemVoices: all.map(systemVoiceOf),
  };
};

/** The language that is shown for voices that speak any language. */
const multilingualTag = "en-US";

const voiceOf = ({ name, lang = multilingualTag, gender, provider, id }: ByokVoice): Voice => ({
  name,
  flag: flagOf(lang),
  gender,
  lang,
  voiceIDs: [id],
  isByok: true,
  provider,
});

const systemVoiceOf = ({ id, name, lang, gender, engine }: ByokVoice): SystemVoice => ({
  id,
  name,
  ...(lang !== undefined && { lang }),
  fallbackVoice: true,
  service: engine,
  voiceName: name,
  gender,
});
