import { addressOf, type Call } from "./exchange.ts";
import { appliedKnobs, type Knob } from "./prosody.ts";
import { type Request, readJson } from "./requests.ts";
import type { AuthToken } from "./session.ts";
import type {
  PlatformQuery,
  SystemVoice,
  VoiceCollection,
  VoiceDetail,
  VoiceReport,
  VoiceReportAnswer,
  VoicesByLanguage,
  VoiceWithLinks,
} from "./voices.ts";
import type { WebsiteConfig } from "./website-config.ts";

/** What is asked of the service to speak; knobs that are normal are left out. */
export interface SynthesisQuery {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly pitch?: number | undefined;
  readonly rate?: number | undefined;
  readonly volume?: number | undefined;
}

/** A whole sound; without bytes when silence was asked for. */
export interface Sound {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  readonly prosodyApplied: readonly Knob[];
}

/** The service's endpoints, one function each. @throws {VoxledgerError} all of them */
export interface Service {
  config(signal: AbortSignal): Promise<{ config: WebsiteConfig; auth: AuthToken | undefined }>;
  voices(platform: PlatformQuery, signal: AbortSignal): Promise<VoiceCollection>;
  voice(name: string, signal: AbortSignal): Promise<VoiceDetail>;
  voicesByLanguage(lang: string, signal: AbortSignal): Promise<VoicesByLanguage>;
  report(report: VoiceReport, signal: AbortSignal): Promise<VoiceReportAnswer>;
  synthesize(query: SynthesisQuery, signal: AbortSignal): Promise<Sound>;
}

/** Proxies refuse addresses of 8 KiB; longer ones are sent as a body instead. */
const longestAddress = 6_000;

export const createService = ({
  request,
  baseUrl,
  now,
}: {
  request: Request;
  baseUrl: string;
  now: () => number;
}): Service => ({
  config: async (signal) => {
    const { auth, ...config } = await request(
      { path: "v2/config" },
      readJson<WebsiteConfig & { auth?: AuthToken }>,
      signal,
    );
    return { config, auth };
  },
  voices: (platform, signal) =>
    request(
      { path: "v2/voices", query: { ...platform } },
      (response) => readCollection(response, now()),
      signal,
    ),
  voice: (name, signal) =>
    request({ path: `v2/voices/${encodeURIComponent(name)}` }, readJson<VoiceDetail>, signal),
  voicesByLanguage: (lang, signal) =>
    request(
      { path: `v2/voices/by-language/${encodeURIComponent(lang)}` },
      readJson<VoicesByLanguage>,
      signal,
    ),
  report: (body, signal) =>
    request({ method: "POST", path: "v2/voices/report", body }, readJson<VoiceReportAnswer>, signal),
  synthesize: (query, signal) => request(synthesisCall(baseUrl, query), readSound, signal),
});

/** A GET where it fits, which caches along the way can answer. */
const synthesisCall = (baseUrl: string, query: SynthesisQuery): Call => {
  const path = "v2/text/synthesize";
  const get: Call = { path, query: { ...query } };
  return addressOf(baseUrl, get).length <= longestAddress ? get : { method: "POST", path, body: query };
};

const readSound = async (response: Response): Promise<Sound> => ({
  bytes: new Uint8Array(await response.arrayBuffer()),
  contentType: response.headers.get("Content-Type") ?? "",
  prosodyApplied: appliedKnobs(response.headers),
});

const readCollection = async (response: Response, at: number): Promise<VoiceCollection> => {
  const list = await readJson<{ voices: VoiceWithLinks[]; systemVoices: SystemVoice[] }>(response);
  return {
    lastUpdated: new Date(at).toISOString(),
    version: response.headers.get("ETag")?.replaceAll('"', "") ?? "",
    voices: list.voices,
    systemVoices: list.systemVoices,
  };
};
