import type { EngineCode, VoiceCollection } from "../api/voices.ts";
import type { Configuration } from "../constructor-options.ts";
import type { NativeSpeech, NativeVoice, StartTimer } from "../dom.ts";
import { isOutage, type VoxledgerError } from "../errors.ts";
import type { Events, SpeechService } from "../events.ts";
import { nativeBackend } from "../playback/native-speech-backend.ts";
import type { SpeechBackend, SpokenPart } from "../playback/speech-backend.ts";
import type { BackendSelection, BackendTurn } from "../speech.ts";
import type { VoiceRequest } from "../transport/transport.ts";
import type { Fallback } from "./fallback.ts";
import { matchingVoice, nativeVoices } from "./native-voices.ts";
import { lastingOutage, type OutageOptions, startOutage } from "./outage.ts";

type Catalog = Pick<VoiceCollection, "voices" | "systemVoices">;

interface BackendSelectionOptions extends OutageOptions {
  readonly configuration: Pick<Configuration, "preferNative">;
  readonly fallback: Fallback;
  readonly catalog: () => Promise<Catalog>;
  readonly nativeSpeech: NativeSpeech | undefined;
  /** The speed of playback, which native voices apply as well. */
  readonly speed: () => number;
  readonly startTimer: StartTimer;
  readonly events: Events;
}

/** A longer silence is too long for a listener, if another voice can continue. */
export const patienceMs = 10_000;

/**
 * Selects who speaks: with `preferNative` the browser's voice behind the requested one, else the
 * service, and after its failure a voice of the browser, which needs nothing of the service. Fires
 * `OnServiceSwitched`.
 */
export const createBackendSelection = ({
  configuration: { preferNative },
  fallback,
  catalog,
  nativeSpeech,
  speed,
  startTimer,
  events,
  ...outageOptions
}: BackendSelectionOptions) => {
  /** The speech service of the last speech, or the preferred one. */
  let lastService: SpeechService = preferNative ? "native" : "service";

  /**
   * Speech does not depend on the catalog: without it, the browser's voices match by their own
   * names only.
   */
  const catalogIfAvailable = (): Promise<Catalog> =>
    catalog().catch(() => ({ voices: [], systemVoices: [] }));

  const switchTo = (service: SpeechService, failure?: VoxledgerError): void => {
    const from = lastService;
    lastService = service;
    if (from !== service) events.emit("OnServiceSwitched", { from, to: service, ...reasonOf(failure) });
  };

  const preferredVoice = async ({ voice }: SpokenPart): Promise<NativeVoice | undefined> => {
    if (!preferNative || !nativeSpeech) return undefined;
    const voices = await nativeVoices(nativeSpeech.synthesis);
    return voices.length === 0 ? undefined : matchingVoice(voices, voice, await catalogIfAvailable());
  };

  const fallbackVoice = ({ part, voice }: SpokenPart): NativeVoice | undefined =>
    fallback.voiceFor(part.text, voice.textLang);

  const native = (voice: NativeVoice, spoken: SpokenPart, failure?: VoxledgerError): BackendTurn => {
    switchTo("native", failure);
    const backend = nativeBackend(nativeSpeech as NativeSpeech, voice, { speed, startTimer });
    return { backend, parts: [spoken] };
  };

  /** The backends of one speech. `failure`: why the service cannot speak any of it. */
  return (service: SpeechBackend, failure?: VoxledgerError): BackendSelection => {
    let outage = failure && lastingOutage(failure);
    let isNativePreferred = true;
    let hasFailed = failure !== undefined;

    const preferred = async (spoken: SpokenPart): Promise<NativeVoice | undefined> =>
      isNativePreferred ? await preferredVoice(spoken) : undefined;

    const serviceTurn = async (parts: readonly SpokenPart[], first: SpokenPart): Promise<BackendTurn> => {
      switchTo(preferNative ? engineOf(first.voice, await catalogIfAvailable()) : "service");
      const turn: SpokenPart[] = [];
      for (const spoken of parts) {
        if (turn.length > 0 && (await preferred(spoken))) break;
        const maxWaitMs = fallbackVoice(spoken) && patienceMs;
        turn.push({ ...spoken, voice: { ...spoken.voice, maxWaitMs } });
      }
      return { backend: service, parts: turn };
    };

    return {
      next: async (parts, first, signal) => {
        const voice = await preferred(first);
        if (voice) return native(voice, first);
        if (outage && !outage.isOver(signal)) {
          await fallback.load();
          const other = fallbackVoice(first);
          if (other) return native(other, first, outage.failure);
          await outage.untilOnline(signal);
        }
        outage = undefined;
        return await serviceTurn(parts, first);
      },
      recordFailure: (backend, failure, spoken) => {
        if (backend.native && !outage) isNativePreferred = false;
        else if (outage || !isOutage(failure)) throw outage?.failure ?? failure;
        else {
          // A service that fails as soon as it is asked again would interrupt each part.
          const lasts = hasFailed && spoken === 0;
          outage = startOutage(failure, { ...outageOptions, ...(lasts && { isHealthy: async () => false }) });
          hasFailed = true;
        }
      },
    };
  };
};

const reasonOf = (failure: VoxledgerError | undefined) =>
  failure && { reason: { message: failure.message, code: failure.code } };

const defaultEngine = "g1";

/** The first engine that the catalog lists for the voice or the language. */
const engineOf = ({ voice, lang }: VoiceRequest, { voices, systemVoices }: Catalog): EngineCode => {
  const ids = voices.find((one) => (voice === undefined ? one.lang === lang : one.name === voice))?.voiceIDs;
  const services = ids?.map((id) => systemVoices.find((one) => one.id === id)?.service);
  return services?.find((service) => service !== undefined) ?? defaultEngine;
};
