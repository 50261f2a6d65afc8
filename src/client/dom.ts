/**
 * The browser's globals that the library uses. All are optional, because Node lacks most of them.
 */
export interface Page {
  readonly document?: PageDocument;
  readonly navigator?: PageNavigator;
  readonly speechSynthesis?: NativeSynthesis;
  readonly SpeechSynthesisUtterance?: new (text: string) => NativeUtterance;
  readonly Audio?: new () => AudioElement;
  readonly WebSocket?: SocketConstructor;
  readonly MediaSource?: MediaSourceConstructor;
  /** Replaces `MediaSource` in Safari on iPhones. */
  readonly ManagedMediaSource?: MediaSourceConstructor;
  addEventListener?(kind: "online", listener: () => void, options: object): void;
}

export interface PageDocument {
  readonly body: { append(element: unknown): void };
  readonly documentElement: { readonly lang: string };
  createElement(tag: "button"): PageElement;
  addEventListener(kind: "click", listener: () => void, options: object): void;
}

export interface PageElement {
  type: string;
  textContent: string | null;
  readonly style: { cssText: string };
  addEventListener(kind: "click", listener: () => void): void;
  remove(): void;
}

/** An `HTMLAudioElement`. */
export interface AudioElement {
  src: string;
  volume: number;
  playbackRate: number;
  disableRemotePlayback?: boolean;
  /** The position in seconds. */
  currentTime: number;
  /** In seconds; not a number until it is known, and infinite for a stream. */
  readonly duration: number;
  readonly error: { readonly message: string } | null;
  play(): Promise<void>;
  pause(): void;
  load(): void;
  removeAttribute(name: "src"): void;
  addEventListener(
    kind: "loadedmetadata" | "playing" | "ended" | "error" | "timeupdate" | "seeking",
    listener: () => void,
    options: object,
  ): void;
}

/** A `MediaSource`. */
export interface MediaSource {
  readonly readyState: "closed" | "open" | "ended";
  addSourceBuffer(contentType: string): SourceBuffer;
  endOfStream(): void;
  addEventListener(kind: "sourceopen", listener: () => void, options: object): void;
}

export interface MediaSourceConstructor {
  new (): MediaSource;
  isTypeSupported(contentType: string): boolean;
}

export interface SourceBuffer {
  /** Ranges in seconds. */
  readonly buffered: { readonly length: number; start(index: number): number; end(index: number): number };
  /** @throws {DOMException} `QuotaExceededError` */
  appendBuffer(bytes: Uint8Array<ArrayBuffer>): void;
  remove(fromSeconds: number, toSeconds: number): void;
  addEventListener(kind: "updateend", listener: () => void, options: object): void;
}

/** A `WebSocket`. */
export interface Socket {
  readonly readyState: number;
  binaryType: string;
  send(text: string): void;
  close(): void;
  addEventListener(kind: "open", listener: () => void): void;
  addEventListener(kind: "close", listener: (event: { readonly reason: string }) => void): void;
  addEventListener(kind: "message", listener: (event: { readonly data: unknown }) => void): void;
}

export type SocketConstructor = new (url: string) => Socket;

export interface NativeVoice {
  readonly name: string;
  readonly lang: string;
  readonly voiceURI: string;
  readonly localService: boolean;
  readonly default: boolean;
}

/** `window.speechSynthesis`. */
export interface NativeSynthesis {
  getVoices(): readonly NativeVoice[];
  speak(utterance: NativeUtterance): void;
  cancel(): void;
  pause(): void;
  resume(): void;
  addEventListener(kind: "voiceschanged", listener: () => void, options: object): void;
}

/** A `SpeechSynthesisUtterance`. */
export interface NativeUtterance {
  lang: string;
  pitch: number;
  rate: number;
  volume: number;
  voice: NativeVoice | null;
  onstart: (() => void) | null;
  onend: (() => void) | null;
  onerror: ((event: { readonly error: string }) => void) | null;
  onboundary: ((event: NativeBoundary) => void) | null;
}

/** The members of a `SpeechSynthesisEvent`; some browsers lack the optional ones. */
interface NativeBoundary {
  readonly charIndex: number;
  readonly charLength?: number;
  /** The time in seconds. */
  readonly elapsedTime?: number;
  readonly name: string;
}

/** The browser's own speech synthesis. */
export interface NativeSpeech {
  readonly synthesis: NativeSynthesis;
  utterance(text: string): NativeUtterance;
}

export interface PageNavigator {
  readonly userAgent: string;
  readonly onLine?: boolean;
  readonly maxTouchPoints?: number;
  readonly userAgentData?: {
    readonly brands: readonly Brand[];
    readonly mobile: boolean;
    readonly platform: string;
    getHighEntropyValues(
      hints: readonly string[],
    ): Promise<{ readonly platformVersion?: string; readonly fullVersionList?: readonly Brand[] }>;
  };
}

export interface Brand {
  readonly brand: string;
  readonly version: string;
}

/** Calls back once after that many milliseconds, unless the returned function is called first. */
export type StartTimer = (milliseconds: number, onExpired: () => void) => () => void;
