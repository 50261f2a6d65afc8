import type { z } from "zod";
import type { EngineCode, SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import type * as schemas from "../../http/routes/voices/schemas.ts";

export type { EngineCode, SystemVoice, Voice };

export type Link = z.output<typeof schemas.HrefLink>;
export type VoiceLinks = z.output<typeof schemas.VoiceLinks>;
export type VoiceWithLinks = Voice & { readonly _links: VoiceLinks };

/**
 * All voices. `version` changes if and only if a voice changes; `lastUpdated` is the time of the
 * response (ISO 8601).
 */
export interface VoiceCollection {
  readonly lastUpdated: string;
  readonly version: string;
  readonly voices: readonly VoiceWithLinks[];
  readonly systemVoices: readonly SystemVoice[];
}

export type VoicesByLanguage = z.output<typeof schemas.VoicesByLanguageResponse>;
export type VoiceDetail = z.output<typeof schemas.VoiceDetailResponse>;

/** Excludes voices that this browser or operating system does not have. */
export type PlatformQuery = Pick<
  z.output<typeof schemas.VoicesQuery>,
  "browser" | "browserVersion" | "os" | "osVersion"
>;

export type PlatformReport = z.output<typeof schemas.PlatformReport>;
export type BrowserVoiceInfo = z.output<typeof schemas.BrowserVoiceInfo>;
export type VoiceReport = z.output<typeof schemas.VoiceReportRequest>;
export type VoiceReportResponse = z.output<typeof schemas.VoiceReportResponse>;
