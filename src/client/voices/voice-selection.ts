import type { EngineCode, VoiceCollection } from "../api/voices.ts";
import type { WebsiteVoice } from "../api/website-config.ts";
import type { Configuration } from "../constructor-options.ts";
import type { NativeSpeech } from "../dom.ts";
import type { Events, SpeechService } from "../events.ts";
import { nativeBackend } from "../playback/native-speech-backend.ts";
import type { Player } from "../playback/player.ts";
import { type SpeechBackend, serviceBackend } from "../playback/speech-backend.ts";
import type { SpeakParams, SpeechContext } from "../speech.ts";
import type { Transport, VoiceRequest } from "../transport/transport.ts";
import { matchingVoice, nativeVoices } from "./native-voices.ts";

type Catalog = Pick<VoiceCollection, "voices" | "systemVoices">;

/** Selects the voice of a speech and its backends, and fires `OnServiceSwitched`. */
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
  /** The voice of the website's configuration. */
  websiteVoice: () => Promise<WebsiteVoice>;
  catalog: () => Promise<Catalog>;
  transport: Transport;
  player: Player;
  nativeSpeech: NativeSpeech | undefined;
  events: Events;
}): Pick<SpeechContext, "selectVoice" | "onBackendStart"> => {
  const { preferNative } = configuration;
  /** The speech service of the last speech, or the preferred one. */
  let lastService: SpeechService = "native";

  /**
   * Speech does not depend on the catalog: without it, the browser's voices match by their own
   * names only.
   */
  const catalogIfAvailable = (): Promise<Catalog> =>
    catalog().catch(() => ({ voices: [], systemVoices: [] }));

  const nativeBackendFor = async (voice: VoiceRequest): Promise<SpeechBackend | undefined> => {
    if (!preferNative || !nativeSpeech) return undefined;
    const voices = await nativeVoices(nativeSpeech.synthesis);
    if (voices.length === 0) return undefined;
    const match = matchingVoice(voices, voice, await catalogIfAvailable());
    return match && nativeBackend(nativeSpeech, match, voice.prosody);
  };

  return {
    selectVoice: async (params) => {
      const voice = requestedVoice(params, configuration, await websiteVoice());
      const native = await nativeBackendFor(voice);
      const prosodyFallback = params.prosodyFallback ?? true;
      const service = serviceBackend({ transport, player, voice, prosodyFallback });
      return { voice, backends: native ? [native, service] : [service] };
    },
    onBackendStart: async ({ native }, voice) => {
      if (!preferNative) return;
      const from = lastService;
      lastService = native ? "native" : engineOf(voice, await catalogIfAvailable());
      if (from !== lastService) events.emit("OnServiceSwitched", { from, to: lastService });
    },
  };
};

/** The voice of the call, or else the page's default, or else the website's. */
const requestedVoice = (
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

/** The first engine that the catalog lists for the voice or the language. */
const engineOf = ({ voice, lang }: VoiceRequest, { voices, systemVoices }: Catalog): EngineCode => {
  const ids = voices.find((one) => (voice === undefined ? one.lang === lang : one.name === voice))?.voiceIDs;
  const services = ids?.map((id) => systemVoices.find((one) => one.id === id)?.service);
  return services?.find((service) => service !== undefined) ?? defaultEngine;
};
