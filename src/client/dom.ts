/**
 * What the library uses of a browser, as far as it uses it, so that it compiles and runs where there is none.
 */
export interface Page {
  readonly document?: PageDocument;
  readonly navigator?: PageNavigator;
  readonly speechSynthesis?: NativeSynthesis;
  readonly SpeechSynthesisUtterance?: new (text: string) => NativeUtterance;
  readonly Audio?: new () => AudioElement;
}

export interface PageDocument {
  readonly body: { append(element: unknown): void };
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
  readonly error: { readonly message: string } | null;
  play(): Promise<void>;
  pause(): void;
  removeAttribute(name: "src"): void;
  addEventListener(kind: "playing" | "ended" | "error", listener: () => void, options: object): void;
}

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

export interface NativeUtterance {
  lang: string;
  pitch: number;
  rate: number;
  volume: number;
  voice: NativeVoice | null;
  onstart: (() => void) | null;
  onend: (() => void) | null;
  onerror: ((event: { readonly error: string }) => void) | null;
  onboundary: ((event: { readonly charIndex: number; readonly name: string }) => void) | null;
}

export interface PageNavigator {
  readonly userAgent: string;
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
