import type { ServiceApi } from "../api/service-api.ts";
import type { CurrentConfig } from "../api/website-config.ts";
import type { Configuration } from "../constructor-options.ts";
import type { Environment } from "../environment.ts";
import { isOutage, type VoxledgerError } from "../errors.ts";
import type { Events } from "../events.ts";
import { inTime } from "../in-time.ts";
import { memoizeAsync } from "../memoize-async.ts";
import type { Player } from "../playback/player.ts";
import { type SpokenPart, serviceBackend } from "../playback/speech-backend.ts";
import type { SpeakParams, SpeechContext } from "../speech.ts";
import type { TextSection } from "../text-parts.ts";
import type { Transport } from "../transport/transport.ts";
import { createBackendSelection, patienceMs } from "./backend-selection.ts";
import { createFallback } from "./fallback.ts";
import { createVoiceSelection } from "./voice-selection.ts";

interface SpeechContextOptions {
  readonly configuration: Configuration;
  readonly environment: Environment;
  readonly api: ServiceApi;
  readonly config: () => Promise<CurrentConfig>;
  readonly transport: Transport;
  readonly articleTransport: (parts: readonly SpokenPart[]) => Transport;
  readonly player: Player;
  readonly speed: () => number;
  readonly isOffline: () => boolean;
  readonly events: Events;
  readonly reportError: (error: VoxledgerError) => void;
}

/** The longest wait for the language of a voice, if the service is busy. */
const languageWaitMs = 2_000;

/** Headings are short: a single part may be over before the next one is loaded. */
const articleLookahead = 3;

/** What all speeches of a page share. */
export const createSpeechContext = ({
  configuration,
  environment,
  api,
  config,
  transport,
  articleTransport,
  player,
  speed,
  isOffline,
  events,
  reportError,
}: SpeechContextOptions): SpeechContext & {
  /**
   * The parts of an article, and what loads them.
   * @throws {VoxledgerError}
   */
  prepareDownload(
    sections: readonly TextSection[],
    params: SpeakParams,
  ): Promise<{ readonly parts: readonly SpokenPart[]; readonly transport: Transport }>;
  /** @throws {VoxledgerError} */
  prepareVoices(params: Pick<SpeakParams, "defaultVoice">): Promise<void>;
  canFallBack(): Promise<boolean>;
} => {
  const { document, nativeSpeech, now, startTimer, untilOnline } = environment;
  const pageLanguage = (): string | undefined => document?.documentElement?.lang || undefined;
  const fallback = createFallback(configuration.fallback, nativeSpeech, pageLanguage);
  const languages = new Map<string, () => Promise<string | undefined>>();
  const languageOf = (voice: string): Promise<string | undefined> => {
    const load =
      languages.get(voice) ??
      memoizeAsync(
        async () =>
          (await config()).voiceLanguages?.[voice] ?? (await api.voice(voice, languageWaitMs)).voice?.lang,
      );
    languages.set(voice, load);
    return load();
  };
  const selectVoices = createVoiceSelection({ configuration, languageOf });
  const selectBackends = createBackendSelection({
    configuration,
    fallback,
    catalog: memoizeAsync(() => api.voices({})),
    nativeSpeech,
    speed,
    startTimer,
    events,
    now,
    isHealthy: api.isHealthy,
    isOffline,
    untilOnline: untilOnline ?? (async () => {}),
  });

  /** A browser's voice can speak if the website's voice is unknown. */
  const websiteVoiceOrFailure = async () => {
    try {
      const maxWaitMs = fallback.voiceFor("", undefined) && patienceMs;
      return { website: (await inTime(config(), maxWaitMs, startTimer)).voice };
    } catch (error) {
      if (!fallback.isAllowed || !isOutage(error as VoxledgerError)) throw error;
      return { failure: error as VoxledgerError };
    }
  };

  return {
    events,
    reportError,
    canFallBack: async () => {
      await fallback.load();
      return fallback.voiceFor("", undefined) !== undefined;
    },
    prepareParts: async (sections, { isArticle, ...params }) => {
      const { website, failure } = await websiteVoiceOrFailure();
      const parts = await selectVoices(sections, params, website);
      const service = serviceBackend({
        player,
        prosodyFallback: params.prosodyFallback ?? true,
        startTimer,
        ...(isArticle ? { transport: articleTransport(parts), lookahead: articleLookahead } : { transport }),
      });
      return { parts, backends: selectBackends(service, failure) };
    },
    prepareDownload: async (sections, params) => {
      const parts = await selectVoices(sections, params, (await config()).voice);
      return { parts, transport: articleTransport(parts) };
    },
    prepareVoices: async ({ defaultVoice = configuration.defaultVoice }) => {
      await languageOf(defaultVoice ?? (await config()).voice.name);
    },
  };
};
