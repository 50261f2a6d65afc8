import { appliedKnobs, type Knob } from "../prosody.ts";
import { type AudioBuffer, type AudioChunk, createAudioBuffer } from "../transport/incoming-audio.ts";
import { type AuthenticatedRequest, readJson } from "../transport/requests.ts";
import type { SynthesisQuery } from "../transport/transport.ts";
import type {
  PlatformQuery,
  SystemVoice,
  VoiceCollection,
  VoiceDetail,
  VoiceReport,
  VoiceReportAnswer,
  VoicesByLanguage,
  VoiceWithLinks,
} from "../voices/voices.ts";
import { type ApiRequest, type ReadResponse, urlOf } from "./http.ts";
import type { AuthToken } from "./session.ts";
import type { WebsiteConfig } from "./website-config.ts";

/** A whole sound; without bytes when silence was asked for. */
export interface AudioFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  readonly prosodyApplied: readonly Knob[];
}

/** A sound on its way, of which the first piece is here. */
export interface AudioStream extends Omit<AudioFile, "bytes">, Pick<AudioBuffer, "audio" | "arrived"> {}

/** The service's endpoints, one function each. @throws {VoxledgerError} all of them */
export interface ServiceApi {
  config(signal: AbortSignal): Promise<{ config: WebsiteConfig; auth: AuthToken | undefined }>;
  voices(platform: PlatformQuery, signal: AbortSignal): Promise<VoiceCollection>;
  voice(name: string, signal: AbortSignal): Promise<VoiceDetail>;
  voicesByLanguage(lang: string, signal: AbortSignal): Promise<VoicesByLanguage>;
  report(report: VoiceReport, signal: AbortSignal): Promise<VoiceReportAnswer>;
  synthesize(query: SynthesisQuery, signal: AbortSignal): Promise<AudioFile>;
  /** `NOT_FOUND` for a voice that the service does not stream. The signal ends the stream too. */
  stream(query: SynthesisQuery, signal: AbortSignal): Promise<AudioStream>;
}

const synthesisPath = "v2/text/synthesize";

/** Proxies refuse addresses of 8 KiB, the key included; longer requests are sent as a body instead. */
const longestAddress = 6_000;

export const createServiceApi = ({
  request,
  baseUrl,
  now,
}: {
  request: AuthenticatedRequest;
  baseUrl: string;
  now: () => number;
}): ServiceApi => ({
  config: async (signal) => {
    const { auth, ...config } = await request(
      { path: "v2/config", cache: "no-store" }, // a kept answer would carry a dead token
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
  stream: (body, signal) =>
    request(
      { method: "POST", path: synthesisPath, accept: "text/event-stream", body },
      readStreamedSound,
      signal,
    ),
});

/** A GET where it fits, which caches along the way can answer. */
const synthesisCall = (baseUrl: string, query: SynthesisQuery): ApiRequest => {
  const get: ApiRequest = { path: synthesisPath, query: { ...query } };
  return urlOf(baseUrl, get).length <= longestAddress
    ? get
    : { method: "POST", path: synthesisPath, body: query };
};

const readSound: ReadResponse<AudioFile> = async (response) => ({
  ...described(response),
  bytes: new Uint8Array(await response.arrayBuffer()),
});

/** So much of a stream is fetched ahead of its player. The rest waits at the service. */
const keptBytes = 4 * 1_024 * 1_024;

const readStreamedSound: ReadResponse<AudioStream> = async (response, within) => {
  const reader = response.body?.getReader();
  const next = async (): Promise<AudioChunk | undefined> => (await reader?.read())?.value;
  const first = await next(); // until it is here the request can be made again
  const incoming = createAudioBuffer({
    keptBytes,
    pull: async () => keep(await within(next)),
    leave: () => void reader?.cancel().catch(() => {}),
  });
  const keep = (piece: AudioChunk | undefined): void => (piece ? incoming.push(piece) : incoming.end());
  keep(first);
  return { ...described(response), audio: incoming.audio, arrived: incoming.arrived };
};

const described = ({ headers }: Response): Omit<AudioFile, "bytes"> => ({
  contentType: headers.get("Content-Type") ?? "",
  prosodyApplied: appliedKnobs(headers),
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
