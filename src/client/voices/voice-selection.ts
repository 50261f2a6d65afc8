import type { WebsiteVoice } from "../api/website-config.ts";
import type { Configuration } from "../configuration.ts";
import type { Events, Speaking } from "../events.ts";
import {
  matchingVoice,
  type NativeSpeech,
  nativeNarrator,
  nativeVoices,
} from "../playback/native-speech-backend.ts";
import type { Player } from "../playback/player.ts";
import { type Narrator, serviceNarrator } from "../playback/speech-backend.ts";
import type { Cast, SpeakParams, Stage } from "../speech.ts";
import type { Transport, Wanted } from "../transport/transport.ts";
import type { EngineCode, VoiceCollection } from "./voices.ts";

type Catalog = Pick<VoiceCollection, "voices" | "systemVoices">;

/** Decides which voice is wanted, who may speak it, and tells when that changes. */
export const createCasting = ({
  configuration,
  websiteVoice,
  catalog,
  transport,
  player,
  nativeSpeech,
  events,
}: {
  configuration: Configuration;
  /** The voice that the website's configuration names. */
  websiteVoice: () => Promise<WebsiteVoice>;
  catalog: () => Promise<Catalog>;
  transport: Transport;
  player: Player;
  nativeSpeech: NativeSpeech | undefined;
  events: Events;
}): Pick<Stage, "castFor" | "onNarrator"> => {
  const { preferNative } = configuration;
  /** Who spoke last, or who should. */
  let speaking: Speaking = "native";

  /** Speech does not depend on it: without it, the browser's voices go by their own names alone. */
  const knownVoices = (): Promise<Catalog> => catalog().catch(() => ({ voices: [], systemVoices: [] }));

  const nativeFor = async (wanted: Wanted): Promise<Narrator | undefined> => {
    if (!preferNative || !nativeSpeech) return undefined;
    const voices = await nativeVoices(nativeSpeech.synthesis);
    if (voices.length === 0) return undefined;
    const voice = matchingVoice(voices, wanted, await knownVoices());
    return voice && nativeNarrator(nativeSpeech, voice, wanted);
  };

  const castFor = async (params: SpeakParams): Promise<Cast> => {
    const wanted = wantedVoice(params, configuration, await websiteVoice());
    const native = await nativeFor(wanted);
    const prosodyFallback = params.prosodyFallback ?? true;
    const byService = serviceNarrator({ transport, player, wanted, prosodyFallback });
    return { wanted, narrators: native ? [native, byService] : [byService] };
  };

  const onNarrator = async ({ native }: Narrator, wanted: Wanted): Promise<void> => {
    if (!preferNative) return;
    const from = speaking;
    speaking = native ? "native" : engineOf(wanted, await knownVoices());
    if (from !== speaking) events.emit("OnServiceSwitched", { from, to: speaking });
  };

  return { castFor, onNarrator };
};

/** What is asked for goes before what the page has as its default, and that before what the website has. */
const wantedVoice = (
  { voice, lang, ...prosody }: SpeakParams,
  { defaultVoice, defaultLang }: Configuration,
  website: WebsiteVoice,
): Wanted => ({
  ...(voice !== undefined || lang !== undefined
    ? { voice, lang }
    : defaultVoice !== undefined || defaultLang !== undefined
      ? { voice: defaultVoice, lang: defaultLang }
      : { voice: website.name, lang: undefined }),
  prosody: {
    pitch: prosody.pitch ?? website.pitch,
    rate: prosody.rate ?? website.rate,
    volume: prosody.volume ?? website.volume,
  },
});

const defaultEngine = "g1";

/** The engine that the catalog names first for the voice or the language. */
const engineOf = ({ voice, lang }: Wanted, { voices, systemVoices }: Catalog): EngineCode => {
  const ids = voices.find((one) => (voice === undefined ? one.lang === lang : one.name === voice))?.voiceIDs;
  const services = ids?.map((id) => systemVoices.find((one) => one.id === id)?.service);
  return services?.find((service) => service !== undefined) ?? defaultEngine;
};
