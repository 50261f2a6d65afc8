export type EngineCode = "g1" | "g2" | "g3" | "g5" | "gwn" | "msv" | "oai";

/** A voice that users choose by its name. */
export interface Voice {
  readonly name: string;
  readonly flag: string;
  readonly gender: "f" | "m";
  /** BCP-47. */
  readonly lang: string;
  /** The ids of its system voices, in the order in which they are tried. */
  readonly voiceIDs: readonly number[];
  readonly deprecated?: boolean;
  readonly isByok?: boolean;
  readonly provider?: string;
}

/** A voice of one of the service's engines, or, without `service`, of a browser. */
export interface SystemVoice {
  readonly id: number;
  readonly name: string;
  readonly lang?: string;
  readonly rate?: number;
  readonly pitch?: number;
  readonly timerSpeed?: number;
  readonly fallbackVoice?: boolean;
  readonly service?: EngineCode;
  readonly voiceName?: string;
  readonly gender?: "f" | "m";
  readonly volume?: number;
  readonly deprecated?: boolean;
}

export interface Link {
  readonly href: string;
}

export interface VoiceLinks {
  readonly self: Link;
  readonly synthesize: Link & {
    readonly method: "POST";
    readonly body: { readonly voice: string; readonly lang?: string };
  };
  readonly "synthesize:stream": Link & {
    readonly method: "POST";
    readonly body: { readonly voice: string; readonly lang?: string; readonly stream: boolean };
    readonly accept: "text/event-stream";
    readonly premium: boolean;
  };
  readonly "stream:websocket": Link & {
    readonly protocol: "websocket";
    readonly message: { readonly type: string; readonly voice: string; readonly lang?: string };
    readonly premium: boolean;
  };
}

export interface VoiceWithLinks extends Voice {
  readonly _links: VoiceLinks;
}

/** All voices. `version` changes if and only if they do; `lastUpdated` is the time of the response (ISO 8601). */
export interface VoiceCollection {
  readonly lastUpdated: string;
  readonly version: string;
  readonly voices: readonly VoiceWithLinks[];
  readonly systemVoices: readonly SystemVoice[];
}

export interface VoicesByLanguage {
  readonly language: string;
  readonly voices: readonly VoiceWithLinks[];
  readonly count: number;
  readonly _links: { readonly self: Link; readonly allVoices: Link };
}

export interface VoiceDetail {
  readonly voice: Voice;
  readonly _links: VoiceLinks & { readonly collection: Link; readonly byLanguage: Link };
}

/** Excludes voices that this browser or operating system does not have. */
export interface PlatformQuery {
  readonly browser?: string;
  readonly browserVersion?: string;
  readonly os?: string;
  readonly osVersion?: string;
}

export interface PlatformReport {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  readonly deviceType?: "desktop" | "mobile" | "tablet";
}

export interface BrowserVoiceInfo {
  readonly name: string;
  readonly lang: string;
  readonly voiceURI: string;
  readonly localService: boolean;
  readonly default?: boolean;
}

export interface VoiceReport {
  readonly platform: PlatformReport;
  readonly voices: readonly BrowserVoiceInfo[];
  /** ISO 8601. */
  readonly timestamp: string;
  readonly sdkVersion?: string;
}

export interface VoiceReportResponse {
  readonly count: number;
  readonly voices: readonly Voice[];
  readonly systemVoices: readonly SystemVoice[];
}
