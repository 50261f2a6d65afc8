/**
 * The client library: one module without dependencies, for browsers and for Node.
 *
 *     import { Voxledger } from "https://tts.example.com/client.js";
 *     const speech = new Voxledger({ apiKey: "…" });
 *     button.onclick = () => speech.speak("Good morning.", { voice: "UK English Female" });
 */

import { createSendRequest } from "./api/http.ts";
import { createServiceApi, type OriginVerification, type ServiceApi } from "./api/service-api.ts";
import { Session } from "./api/session.ts";
import type {
  PlatformQuery,
  VoiceCollection,
  VoiceDetail,
  VoiceReportResponse,
  VoicesByLanguage,
} from "./api/voices.ts";
import type { CurrentConfig } from "./api/website-config.ts";
import { resolveConfiguration, type VoxledgerConfig } from "./constructor-options.ts";
import { defaultEnvironment, type Environment } from "./environment.ts";
import { asVoxledgerError, VoxledgerError } from "./errors.ts";
import { createEvents, type EventKind, type Events, type Listener } from "./events.ts";
import type { LabelOverrides } from "./labels/labels.ts";
import { memoizeAsync } from "./memoize-async.ts";
import type { AllowSpeechLabel } from "./playback/allow-speech.ts";
import { createPlayer } from "./playback/create-player.ts";
import { type PlaybackPosition, type Player, readBlob } from "./playback/player.ts";
import { deliverParts } from "./playback/speech-backend.ts";
import { type SpeakParams, Speech, type SpeechParams, type SpeechResult } from "./speech.ts";
import type { TextSection } from "./text-parts.ts";
import { createArticleTransports } from "./transport/article-transport.ts";
import { createTransport } from "./transport/create-transport.ts";
import { nativeVoices } from "./voices/native-voices.ts";
import { platformOf, voiceInfo } from "./voices/platform-report.ts";
import { createSpeechContext } from "./voices/speech-context.ts";

export type { OriginVerification } from "./api/service-api.ts";
export type * from "./api/voices.ts";
export type * from "./api/website-config.ts";
export type { Fallback, VoxledgerConfig } from "./constructor-options.ts";
export type { Environment } from "./environment.ts";
export { VoxledgerError } from "./errors.ts";
export type { EventKind, EventPayloads, Listener, SpeechEvent, SpeechService } from "./events.ts";
export type { LabelName, LabelOverrides, LocalizedLabels } from "./labels/labels.ts";
export type { AllowSpeechLabel, AskToSpeak } from "./playback/allow-speech.ts";
export type { Boundary } from "./playback/boundaries.ts";
export type { PlayableSound, Playback, PlaybackPosition, Player, PlaySound } from "./playback/player.ts";
export type { PlaybackProsody, Prosody, ProsodyParameter as Knob } from "./prosody.ts";
export type { SpeakParams, SpeechResult } from "./speech.ts";
export type { LanguageSpan, TextPart, TextSection } from "./text-parts.ts";
export type { Delivery, TransportMode } from "./transport/transport.ts";

/**
 * A website's connection to the service. Every method that sends a request throws VoxledgerError.
 */
export class Voxledger {
  /** The URL of the service, with a trailing slash. */
  readonly baseUrl: string;
  /** The labels that replace those of the library and of the website's configuration. */
  readonly labels: LabelOverrides;
  readonly #events: Events;
  readonly #environment: Environment;
  readonly #api: ServiceApi;
  readonly #loadConfig: (options?: { reload: boolean }) => Promise<CurrentConfig>;
  readonly #player: Player;
  readonly #speechContext: ReturnType<typeof createSpeechContext>;
  readonly #closed = new AbortController();
  readonly #reportedErrors = new WeakSet<VoxledgerError>();
  /** Undefined until the service has sent it. */
  #config: CurrentConfig | undefined;
  #speed = 1;
  #speech: Speech | undefined;

  /**
   * Requests the website's configuration at once, and then fires `OnReady` or `OnError`.
   * @throws {TypeError} for invalid options
   */
  constructor(config: VoxledgerConfig, overrides: Partial<Environment> = {}) {
    const environment: Environment = { ...defaultEnvironment(), ...overrides };
    const { document, fetch, now, log, startTimer, WebSocket } = environment;
    const configuration = resolveConfiguration(config, {
      scriptUrl: import.meta.url,
      inPage: document !== undefined,
    });
    const { baseUrl, timeout, retryAttempts, debug } = configuration;
    const onResponse = debug ? (line: string) => log(`voxledger: ${line}`) : () => {};
    const send = createSendRequest({ baseUrl, timeout, fetch, startTimer, onResponse });
    const isOffline = (): boolean => environment.navigator?.onLine === false;
    const retry = { ...environment, retryAttempts, isOffline };
    const session = new Session({ ...configuration, send, retry, now });
    const closed = this.#closed.signal;
    const api = createServiceApi({ send, session, baseUrl, closed, retry, environment });
    const transport = createTransport({
      mode: configuration.transport,
      ...{ api, session, baseUrl, timeout, retry, now, startTimer, WebSocket, closed },
    });

    this.baseUrl = baseUrl;
    this.labels = configuration.labels;
    this.#environment = environment;
    this.#api = api;
    this.#events = createEvents(now);
    this.#player = createPlayer(environment, {
      allowSpeechLabel: () => this.#allowSpeechLabel(),
      onAllowed: () => this.#events.emit("OnAllowSpeechClicked", {}),
    });
    this.#loadConfig = memoizeAsync(() => this.#fetchConfig());
    this.#speechContext = createSpeechContext({
      configuration,
      environment,
      api,
      config: () => this.#loadConfig(),
      transport,
      articleTransport: createArticleTransports({ api, single: transport }),
      player: this.#player,
      speed: () => this.#speed,
      isOffline,
      events: this.#events,
      reportError: (error) => this.#reportError(error),
    });
    const onClick = (): void => this.#events.emit("OnClickEvent", {});
    document?.addEventListener("click", onClick, { once: true, capture: true, signal: closed });
    queueMicrotask(() => this.#load()); // after the caller has added its listeners
  }

  /** Adds an event listener. Returns a function that removes it. */
  on<Kind extends EventKind>(kind: Kind, listener: Listener<Kind>): () => void {
    return this.#events.on(kind, listener);
  }

  /** Requests the website's configuration again, and with it a new token. */
  config(): Promise<CurrentConfig> {
    return this.#loadConfig({ reload: true });
  }

  /**
   * True if a voice of the browser may read this page while the service cannot or will not speak.
   */
  canFallBack(): Promise<boolean> {
    return this.#speechContext.canFallBack();
  }

  /** All voices, or those that exist on a platform. */
  voices(platform: PlatformQuery = {}): Promise<VoiceCollection> {
    return this.#api.voices(platform);
  }

  voice(name: string): Promise<VoiceDetail> {
    return this.#api.voice(name);
  }

  /** The voices of exactly this language tag; case-sensitive. */
  voicesByLanguage(lang: string): Promise<VoicesByLanguage> {
    return this.#api.voicesByLanguage(lang);
  }

  /** Verifies this page's origin with the operator's verification token, which works once. */
  verifyOrigin(token: string): Promise<OriginVerification> {
    return this.#api.verifyOrigin(token);
  }

  /**
   * Reports this browser's voices to the service.
   * @throws {VoxledgerError} `NOT_SUPPORTED` outside of a browser
   */
  async reportVoices(): Promise<VoiceReportResponse> {
    const { navigator, nativeSpeech, now } = this.#environment;
    if (!navigator || !nativeSpeech) {
      throw new VoxledgerError("Voices can only be reported from a browser.", { code: "NOT_SUPPORTED" });
    }
    const voices = (await nativeVoices(nativeSpeech.synthesis)).map(voiceInfo);
    const platform = await platformOf(navigator);
    const report = { platform, voices, timestamp: new Date(now()).toISOString(), sdkVersion: "v2" };
    return await this.#api.reportVoices(report);
  }

  /**
   * Loads what the voices of a page are selected by, so that the first `speak` need not wait for
   * it. Speech does not depend on the call.
   */
  async prepare(params: Pick<SpeakParams, "defaultVoice"> = {}): Promise<void> {
    await this.#speechContext.prepareVoices(params).catch(() => {}); // `speak` tries again
  }

  /**
   * Speaks the text, and cancels the current speech. Resolves when it has ended. A rejection need
   * not be handled: `OnError` and `onerror` report it too. In Node the constructor needs a player.
   * Make the first call in a user gesture (a click): then the browser allows audio in later calls,
   * too.
   *
   * Sections are spoken one after the other; `charIndex` counts from the beginning of a text that
   * joins them by blank lines (`"\n\n"`). `voice` and `lang` of the call, or `voice` of a section,
   * speak whatever the text's language is. Otherwise the default voice speaks everything in its own
   * language (`en` for `en-GB`), and the service's voice for it speaks any other language. The
   * language is the `lang` of the section, unless script and words show that it cannot be.
   */
  speak(text: string | readonly TextSection[], params: SpeakParams = {}): Promise<SpeechResult> {
    return this.#start(text, { ...params, isArticle: false });
  }

  /**
   * Speaks the paragraphs of an article, as `speak` does. One request prepares all of its parts, at
   * most 200 at once. They are charged once per website and month, for any number of readers, and
   * are loaded from permanent addresses, to which a CDN can respond.
   */
  speakArticle(sections: readonly TextSection[], params: SpeakParams = {}): Promise<SpeechResult> {
    return this.#start(sections, { ...params, isArticle: true });
  }

  /**
   * The audio of the parts of an article, in their order, without playing it. They are charged as
   * those of `speakArticle`.
   * @throws {VoxledgerError}
   */
  async *articleAudio(sections: readonly TextSection[], params: SpeakParams = {}): AsyncGenerator<Blob> {
    const { parts, transport } = await this.#speechContext.prepareDownload(sections, params);
    const source = { transport, parts, lookahead: 1, startTimer: this.#environment.startTimer };
    for await (const { delivery } of deliverParts(source, this.#closed.signal)) {
      yield await readBlob(delivery.audio, delivery.contentType);
    }
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

  /**
   * Plays the current speech and all later ones this many times as fast, from the same audio. A
   * native voice applies it from its next part on.
   */
  setSpeed(speed: number): void {
    this.#speed = speed;
    this.#player.setSpeed?.(speed);
  }

  /**
   * The position in the audio of the part that is being played. Undefined between parts, for native
   * voices, and for players that do not know it.
   */
  get position(): PlaybackPosition | undefined {
    return this.#player.position;
  }

  /** Cancels the speech and all requests in flight. */
  close(): void {
    this.cancel();
    this.#closed.abort();
  }

  #start(text: string | readonly TextSection[], params: SpeechParams): Promise<SpeechResult> {
    this.cancel();
    this.#player.unlock?.();
    this.#speech = new Speech(text, params, this.#speechContext);
    return this.#speech.finished;
  }

  #load(): void {
    this.#events.emit("OnLoad", {});
    this.#loadConfig().catch((error) => this.#reportError(asVoxledgerError(error)));
  }

  async #fetchConfig(): Promise<CurrentConfig> {
    const config = await this.#api.config();
    const isFirst = this.#config === undefined;
    this.#config = config;
    if (isFirst) this.#events.emit("OnReady", {});
    return config;
  }

  async #allowSpeechLabel(): Promise<AllowSpeechLabel> {
    const english = { allowSpeech: "Allow speech" };
    try {
      // An earlier version of the service sends a configuration without labels.
      const overrides = [this.#config?.features.webPlayer.labels ?? {}, this.labels];
      const { chooseLabels } = await import("./labels/labels.ts");
      return chooseLabels([this.#environment.document?.documentElement.lang ?? ""], { english, overrides });
    } catch {
      return { lang: "en", dir: "ltr", labels: english };
    }
  }

  #reportError(error: VoxledgerError): void {
    if (this.#reportedErrors.has(error) || this.#closed.signal.aborted) return;
    this.#reportedErrors.add(error);
    const { message, code } = error;
    this.#events.emit("OnError", { message, ...(code !== undefined && { code }) });
  }
}
