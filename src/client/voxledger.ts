/**
 * The client library: one module without dependencies, for browsers and for Node.
 *
 *     import { Voxledger } from "https://tts.example.com/client.js";
 *     const speech = new Voxledger({ apiKey: "…" });
 *     button.onclick = () => speech.speak("Good morning.", { voice: "UK English Female" });
 */

import { createSendRequest, type SendRequest } from "./api/http.ts";
import { createServiceApi, type ServiceApi } from "./api/service-api.ts";
import { createSession } from "./api/session.ts";
import type { WebsiteConfig } from "./api/website-config.ts";
import { type Configuration, resolveConfiguration, type VoxledgerConfig } from "./configuration.ts";
import { defaultEnvironment, type Environment } from "./environment.ts";
import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { createEvents, type EventKind, type Events, type Listener } from "./events.ts";
import { type Memoized, memoizeAsync } from "./memoize-async.ts";
import { audioElementPlayer } from "./playback/audio-element-player.ts";
import { nativeVoices } from "./playback/native-speech-backend.ts";
import { functionPlayer, type Player } from "./playback/player.ts";
import { type SpeakParams, type Speech, type SpeechContext, type Spoken, startSpeech } from "./speech.ts";
import { createTransport } from "./transport/create-transport.ts";
import { createLoadConfig, type LoadConfig } from "./transport/handshake.ts";
import { createAuthenticatedRequest, readJson } from "./transport/requests.ts";
import type { Transport } from "./transport/transport.ts";
import { platformOf, voiceInfo } from "./voices/platform-report.ts";
import { createVoiceSelection } from "./voices/voice-selection.ts";
import type {
  PlatformQuery,
  VoiceCollection,
  VoiceDetail,
  VoiceReportAnswer,
  VoicesByLanguage,
} from "./voices/voices.ts";

export type * from "./api/website-config.ts";
export type { VoxledgerConfig } from "./configuration.ts";
export type { Environment } from "./environment.ts";
export { VoxledgerError } from "./errors.ts";
export type { EventKind, EventPayloads, Listener, Speaking, SpeechEvent } from "./events.ts";
export type { AskToSpeak } from "./playback/allow-speech.ts";
export type { PlayableSound, Playback, Player, PlaySound } from "./playback/player.ts";
export type { Knob, PlaybackProsody, Prosody } from "./prosody.ts";
export type { SpeakParams, Spoken } from "./speech.ts";
export type { TextPart } from "./text-parts.ts";
export type { Delivery, Transport, TransportMode } from "./transport/transport.ts";
export type * from "./voices/voices.ts";

export interface OriginProof {
  readonly verified: boolean;
  readonly origin: string;
}

/** A website's connection to the service, and its voice. Every method that asks the service throws VoxledgerError. */
export class Voxledger {
  readonly #events: Events;
  readonly #environment: Environment;
  readonly #exchange: SendRequest;
  readonly #service: ServiceApi;
  readonly #website: Memoized<WebsiteConfig>;
  readonly #player: Player;
  readonly #stage: SpeechContext;
  readonly #closed = new AbortController();
  readonly #told = new WeakSet<VoxledgerError>();
  #isReady = false;
  #speech: Speech | undefined;

  /**
   * Asks the service for its configuration at once; `OnReady` or `OnError` tell how that went.
   * @throws {TypeError} for a configuration that cannot be used
   */
  constructor(config: VoxledgerConfig, given: Partial<Environment> = {}) {
    const environment: Environment = { ...defaultEnvironment(), ...given };
    const { document, fetch, now, log } = environment;
    const configuration = resolveConfiguration(config, {
      scriptUrl: import.meta.url,
      inPage: document !== undefined,
    });
    const note = configuration.debug ? (line: string) => log(`voxledger: ${line}`) : () => {};
    const exchange = createSendRequest({ ...configuration, fetch, note });
    const session = createSession({ ...configuration, exchange, now });
    const patience = { ...environment, retryAttempts: configuration.retryAttempts };
    const { baseUrl } = configuration;
    const closed = this.#closed.signal;

    this.#player = playerOf(environment, () => this.#events.emit("OnAllowSpeechClicked", {}));
    this.#environment = environment;
    this.#exchange = exchange;
    this.#events = createEvents(now);
    this.#service = createServiceApi({
      request: createAuthenticatedRequest({ exchange, session, patience }),
      baseUrl,
      now,
    });
    const shakeHands = createLoadConfig({ service: this.#service, session, baseUrl, environment });
    this.#website = memoizeAsync(() => this.#connect(shakeHands));
    const connections = {
      service: this.#service,
      session,
      patience,
      now,
      closed,
      WebSocket: environment.WebSocket,
    };
    this.#stage = this.#build(configuration, createTransport({ ...configuration, ...connections }));
    this.#listenForClick();
    queueMicrotask(() => this.#load());
  }

  /** Listens to one kind of event; answers with the function that ends the listening. */
  on<Kind extends EventKind>(kind: Kind, listener: Listener<Kind>): () => void {
    return this.#events.on(kind, listener);
  }

  /** The website's configuration, asked for anew; with it comes the token that further requests carry. */
  async config(): Promise<WebsiteConfig> {
    this.#website.clear();
    return await this.#website.get();
  }

  /** All voices; with a platform, without those that it has not. */
  voices(platform: PlatformQuery = {}): Promise<VoiceCollection> {
    return this.#service.voices(platform, this.#closed.signal);
  }

  voice(name: string): Promise<VoiceDetail> {
    return this.#service.voice(name, this.#closed.signal);
  }

  /** Exactly that language's, case-sensitive. */
  voicesByLanguage(lang: string): Promise<VoicesByLanguage> {
    return this.#service.voicesByLanguage(lang, this.#closed.signal);
  }

  /** Proves this page's origin to the service with the token that the operator issued for it. Works once. */
  verifyOrigin(token: string): Promise<OriginProof> {
    // Not tried again: a token that was used but whose answer was lost would be told as refused.
    const call = { method: "POST", path: "v2/auth/verify-origin" } as const;
    return this.#exchange(
      call,
      { headers: { Authorization: `Bearer ${token}` }, query: {} },
      readJson<OriginProof>,
      this.#closed.signal,
    );
  }

  /** Tells the service which voices this browser has. @throws {VoxledgerError} `NOT_SUPPORTED` where it has none to tell of */
  async reportVoices(): Promise<VoiceReportAnswer> {
    const { navigator, nativeSpeech, now } = this.#environment;
    if (!navigator || !nativeSpeech) {
      throw new VoxledgerError("There is no browser here with voices to report.", { code: "NOT_SUPPORTED" });
    }
    const voices = (await nativeVoices(nativeSpeech.synthesis)).map(voiceInfo);
    const platform = await platformOf(navigator);
    const report = { platform, voices, timestamp: new Date(now()).toISOString(), sdkVersion: "v2" };
    return await this.#service.report(report, this.#closed.signal);
  }

  /**
   * Speaks the text, instead of what is being spoken. Resolves when it is over; callers that listen to `OnError` or
   * `onerror` need not handle the promise. In Node a player has to be given to the constructor. A first call in a user's
   * gesture (a click) is what lets browsers play its sound, and all later ones.
   */
  speak(text: string, params: SpeakParams = {}): Promise<Spoken> {
    this.cancel();
    this.#player.unlock?.();
    this.#speech = startSpeech(text, params, this.#stage);
    return this.#speech.finished;
  }

  pause(): void {
    this.#speech?.pause();
  }

  resume(): void {
    this.#speech?.resume();
  }

  cancel(): void {
    this.#speech?.cancel();
  }

  /** Falls silent and ends all that is under way. */
  close(): void {
    this.cancel();
    this.#closed.abort();
  }

  #load(): void {
    this.#events.emit("OnLoad", {});
    this.#website.get().catch((error) => this.#tell(asVoxledgerError(error)));
  }

  async #connect(shakeHands: LoadConfig): Promise<WebsiteConfig> {
    const config = await shakeHands(this.#closed.signal);
    if (!this.#isReady) this.#events.emit("OnReady", {});
    this.#isReady = true;
    return config;
  }

  #tell(error: VoxledgerError): void {
    if (this.#told.has(error) || this.#closed.signal.aborted) return;
    this.#told.add(error);
    const { message, code } = error;
    this.#events.emit("OnError", { message, ...(code !== undefined && { code }) });
  }

  #listenForClick(): void {
    const clicked = (): void => this.#events.emit("OnClickEvent", {});
    const options = { once: true, capture: true, signal: this.#closed.signal };
    this.#environment.document?.addEventListener("click", clicked, options);
  }

  #build(configuration: Configuration, transport: Transport): SpeechContext {
    const casting = createVoiceSelection({
      configuration,
      websiteVoice: async () => (await this.#website.get()).voice,
      catalog: memoizeAsync(() => this.voices()).get,
      transport,
      player: this.#player,
      nativeSpeech: this.#environment.nativeSpeech,
      events: this.#events,
    });
    return { ...casting, events: this.#events, reportError: (error) => this.#tell(error) };
  }
}

const playerOf = ({ player, audio, MediaSource, askToSpeak }: Environment, onAllowed: () => void): Player => {
  if (typeof player === "function") return functionPlayer(player);
  if (player) return player;
  if (audio && askToSpeak) return audioElementPlayer({ audio, MediaSource, askToSpeak, onAllowed });
  return functionPlayer(() => {
    throw new VoxledgerError("There is nothing here to play audio by: give a player.", {
      code: "NOT_SUPPORTED",
    });
  });
};
