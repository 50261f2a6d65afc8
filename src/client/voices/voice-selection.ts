import type { WebsiteVoice } from "../api/website-config.ts";
import type { Configuration } from "../configuration.ts";
import type { Events, Speaking } from "../events.ts";
import {
  matchingVoice,
  type NativeSpeech,
  nativeBackend,
  nativeVoices,
} from "../playback/native-speech-backend.ts";
import type { Player } from "../playback/player.ts";
import { type SpeechBackend, serviceBackend } from "../playback/speech-backend.ts";
import type { SpeakParams, SpeechContext, VoiceSelection } from "../speech.ts";
import type { Transport, VoiceRequest } from "../transport/transport.ts";
import type { EngineCode, VoiceCollection } from "./voices.ts";

type Catalog = Pick<VoiceCollection, "voices" | "systemVoices">;

/** Decides which voice is wanted, who may speak it, and tells when that changes. */
export const createVoiceSelection = ({
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
}): Pick<SpeechContext, "selectVoice" | "onBackendChange"> => {
  const { preferNative } = configuration;
  /** Who spoke last, or who should. */
  let speaking: Speaking = "native";

  /** Speech does not depend on it: without it, the browser's voices go by their own names alone. */
  const knownVoices = (): Promise<Catalog> => catalog().catch(() => ({ voices: [], systemVoices: [] }));

  const nativeFor = async (wanted: VoiceRequest): Promise<SpeechBackend | undefined> => {
    if (!preferNative || !nativeSpeech) return undefined;
    const voices = await nativeVoices(nativeSpeech.synthesis);
    if (voices.length === 0) return undefined;
    const voice = matchingVoice(voices, wanted, await knownVoices());
    return voice && nativeBackend(nativeSpeech, voice, wanted);
  };

  const selectVoice = async (params: SpeakParams): Promise<VoiceSelection> => {
    const wanted = wantedVoice(params, configuration, await websiteVoice());
    const native = await nativeFor(wanted);
    const prosodyFallback = params.prosodyFallback ?? true;
    const byService = serviceBackend({ transport, player, wanted, prosodyFallback });
    return { voice: wanted, backends: native ? [native, byService] : [byService] };
  };

  const onBackendChange = async ({ native }: SpeechBackend, wanted: VoiceRequest): Promise<void> => {
    if (!preferNative) return;
    const from = speaking;
    speaking = native ? "native" : engineOf(wanted, await knownVoices());
    if (from !== speaking) events.emit("OnServiceSwitched", { from, to: speaking });
  };

  return { selectVoice, onBackendChange };
};

/** What is asked for goes before what the page has as its default, and that before what the website has. */
const wantedVoice = (
  { voice, lang, ...prosody }: SpeakParams,
  { defaultVoice, defaultLang }: Configuration,
  website: WebsiteVoice,
): VoiceRequest => ({
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
const engineOf = ({ voice, lang }: VoiceRequest, { voices, systemVoices }: Catalog): EngineCode => {
  const ids = voices.find((one) => (voice === undefined ? one.lang === lang : one.name === voice))?.voiceIDs;
  const services = ids?.map((id) => systemVoices.find((one) => one.id === id)?.service);
  return services?.find((service) => service !== undefined) ?? defaultEngine;
};
