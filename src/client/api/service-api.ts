import type { Environment } from "../environment.ts";
import { VoxledgerError } from "../errors.ts";
import { appliedParameters } from "../prosody.ts";
import type { Article, ArticlePart, ArticleRequest } from "./articles.ts";
import { type AudioChunk, createChunkBuffer } from "./chunk-buffer.ts";
import { type ApiRequest, type ReadResponse, readJson, type SendRequest, urlOf } from "./http.ts";
import { type RetryOptions, withRetry } from "./retry.ts";
import type { AuthToken, Session } from "./session.ts";
import type { OpenedAudio, SynthesisQuery } from "./synthesis.ts";
import type {
  PlatformQuery,
  SystemVoice,
  VoiceCollection,
  VoiceDetail,
  VoiceReport,
  VoiceReportResponse,
  VoicesByLanguage,
  VoiceWithLinks,
} from "./voices.ts";
import type { CurrentConfig } from "./website-config.ts";

export interface OriginVerification {
  readonly verified: boolean;
  readonly origin: string;
}

export type ServiceApi = ReturnType<typeof createServiceApi>;

/** The service's endpoints. Every method throws {VoxledgerError}. */
export const createServiceApi = ({
  send,
  session,
  baseUrl,
  closed,
  retry,
  environment: { fetch, now, document },
}: {
  send: SendRequest;
  session: Session;
  baseUrl: string;
  /** Aborted when the library is closed. */
  closed: AbortSignal;
  retry: RetryOptions;
  environment: Pick<Environment, "fetch" | "now" | "document">;
}) => {
  const request = <T>(sent: ApiRequest, read: ReadResponse<T>, signal = closed): Promise<T> =>
    session.request(sent, read, signal);
  const get = <T>(path: string): Promise<T> => request({ path }, readJson<T>);

  return {
    /**
     * Resolves with the website's configuration, and stores the token that the response carries.
     */
    config: async (): Promise<CurrentConfig> => {
      try {
        return await requestConfig(session, closed);
      } catch (error) {
        throw document ? await explainRefusal(error, { fetch, baseUrl, signal: closed }) : error;
      }
    },
    voices: (platform: PlatformQuery): Promise<VoiceCollection> =>
      request({ path: "v2/voices", query: { ...platform } }, (response) => readCollection(response, now())),
    voice: (name: string, maxWaitMs?: number): Promise<VoiceDetail> =>
      request(
        { path: `v2/voices/${encodeURIComponent(name)}`, maxWaitMs, timeout: maxWaitMs },
        readJson<VoiceDetail>,
      ),
    voicesByLanguage: (lang: string): Promise<VoicesByLanguage> =>
      get<VoicesByLanguage>(`v2/voices/by-language/${encodeURIComponent(lang)}`),
    reportVoices: (body: VoiceReport): Promise<VoiceReportResponse> =>
      request({ method: "POST", path: "v2/voices/report", body }, readJson<VoiceReportResponse>),
    // Does not retry: the token works once, and if the first response was lost, the retry would
    // report a refusal.
    verifyOrigin: (token: string): Promise<OriginVerification> =>
      send(
        { method: "POST", path: "v2/auth/verify-origin" },
        { headers: { Authorization: `Bearer ${token}` }, query: {} },
        readJson<OriginVerification>,
        closed,
      ),
    /** Downloads the audio. */
    synthesize: (query: SynthesisQuery, signal: AbortSignal, maxWaitMs?: number): Promise<OpenedAudio> =>
      request({ ...synthesisRequest(baseUrl, query), maxWaitMs }, readDownload(fetch, baseUrl), signal),
    /**
     * Resolves with the first chunk. Rejects with `NOT_FOUND` for a voice that the service does not
     * stream. Aborting the signal also ends a running stream.
     */
    stream: (body: SynthesisQuery, signal: AbortSignal, maxWaitMs?: number): Promise<OpenedAudio> => {
      const accept = "text/event-stream";
      return request({ method: "POST", path: synthesisPath, accept, body, maxWaitMs }, readStream, signal);
    },
    /**
     * Prepares the parts of an article, which takes no time. All speeches share it, so none of them
     * may abort it.
     */
    prepareArticle: (body: ArticleRequest, maxWaitMs?: number): Promise<Article> =>
      request(
        { method: "POST", path: "v2/articles", body, maxWaitMs, timeout: maxWaitMs },
        readJson<Article>,
      ),
    /**
     * Downloads a part of an article. The request has no credentials, so every cache can respond.
     */
    loadPart: async (
      { url, marks, prosodyApplied = [] }: ArticlePart,
      signal: AbortSignal,
      maxWaitMs?: number,
    ): Promise<OpenedAudio> => {
      const metadata = { prosodyApplied, whole: true, received: Promise.resolve() };
      if (url === undefined) return { ...metadata, contentType: "", audio: singleChunk(new Uint8Array()) };
      const read: ReadResponse<OpenedAudio> = async (response) => ({
        ...metadata,
        contentType: response.headers.get("Content-Type") ?? "",
        audio: singleChunk(new Uint8Array(await response.arrayBuffer())),
        loadMarks: marks === undefined ? undefined : loadText(fetch, marks),
      });
      const load = () => send({ path: url }, { headers: {}, query: {} }, read, signal);
      return await withRetry(load, { ...retry, maxDelayMs: maxWaitMs }, signal);
    },
    /** True if the service responds and is healthy. Costs nothing, and needs no credentials. */
    isHealthy: (): Promise<boolean> => {
      const probe: ApiRequest = { path: "health", cache: "no-store", timeout: probeMs };
      return send(probe, { headers: {}, query: {} }, async () => true, closed).catch(() => false);
    },
  };
};

/** The service responds at once, unless the connection hangs. */
const probeMs = 5_000;

const requestConfig = async (session: Session, closed: AbortSignal): Promise<CurrentConfig> => {
  const { auth, ...config } = await session.request(
    { path: "v2/config", cache: "no-store" }, // a cached response would carry an expired token
    readJson<CurrentConfig & { auth?: AuthToken }>,
    closed,
  );
  session.storeToken(auth);
  return config;
};

interface Probe {
  readonly fetch: Environment["fetch"];
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

/**
 * A browser hides a response that refuses an unverified origin: the page sees a network error, as
 * if nothing had responded. Pages of every origin can read `/health`, and of `/v2` the refusal to
 * verify an origin by GET: they tell what the browser hides.
 */
const explainRefusal = async (error: unknown, probe: Probe): Promise<unknown> => {
  if (!(error instanceof VoxledgerError) || error.code !== "NETWORK") return error;
  const [api, health] = await Promise.all([
    respond("v2/auth/verify-origin", probe),
    respond("health", probe),
  ]);
  if (api) return unverifiedOrigin(error);
  return health ? blockedApi(error) : error;
};

/** The response, if the page may read it. */
const respond = async (path: string, { fetch, baseUrl, signal }: Probe): Promise<Response | undefined> => {
  try {
    const response = await fetch(`${baseUrl}${path}`, { credentials: "omit", cache: "no-store", signal });
    await response.body?.cancel();
    return response;
  } catch {
    return undefined;
  }
};

const unverifiedOrigin = (cause: unknown): VoxledgerError =>
  new VoxledgerError("The service refuses this page: its origin is not a verified origin of the website.", {
    status: 401,
    code: "UNAUTHORIZED",
    cause,
  });

const blockedApi = (cause: unknown): VoxledgerError =>
  new VoxledgerError(
    "The service is running, but requests to /v2 fail: a proxy, a firewall, a browser extension or the page's content security policy blocks them.",
    { code: "NETWORK", cause },
  );

const synthesisPath = "v2/text/synthesize";

/** Proxies reject URLs of 8 KiB, the key included. Longer requests use POST. */
const maxUrlLength = 6_000;

/** Uses GET if the URL is short enough, because HTTP caches can serve it. */
const synthesisRequest = (baseUrl: string, query: SynthesisQuery): ApiRequest => {
  const get: ApiRequest = { path: synthesisPath, query: { ...query } };
  return urlOf(baseUrl, get).length <= maxUrlLength
    ? get
    : { method: "POST", path: synthesisPath, body: query };
};

const readDownload =
  (fetch: Environment["fetch"], baseUrl: string): ReadResponse<OpenedAudio> =>
  async (response) => {
    const audio = singleChunk(new Uint8Array(await response.arrayBuffer()));
    const url = marksUrl(response, baseUrl);
    const loadMarks = url === undefined ? undefined : loadText(fetch, url);
    return { ...readMetadata(response), whole: true, audio, received: Promise.resolve(), loadMarks };
  };

const loadText =
  (fetch: Environment["fetch"], url: string) =>
  async (signal: AbortSignal): Promise<string> => {
    const response = await fetch(url, { credentials: "omit", signal });
    return response.ok ? response.text() : "";
  };

async function* singleChunk(bytes: AudioChunk): AsyncGenerator<AudioChunk> {
  if (bytes.length > 0) yield bytes;
}

/** Bytes of a stream that are read ahead of the player. TCP back-pressure holds back the rest. */
const maxBufferedBytes = 4 * 1_024 * 1_024;

const readStream: ReadResponse<OpenedAudio> = async (response, withTimeout) => {
  const reader = response.body?.getReader();
  const next = async (): Promise<AudioChunk | undefined> => (await reader?.read())?.value;
  const first = await next(); // until it has been received, the request can be retried
  const buffer = createChunkBuffer({
    maxBytes: maxBufferedBytes,
    pull: async () => add(await withTimeout(next)),
    onCancel: () => void reader?.cancel().catch(() => {}),
  });
  const add = (chunk: AudioChunk | undefined): void => (chunk ? buffer.push(chunk) : buffer.end());
  add(first);
  const { audio, received } = buffer;
  return { ...readMetadata(response), whole: first === undefined, audio, received };
};

const readMetadata = ({ headers }: Response): Pick<OpenedAudio, "contentType" | "prosodyApplied"> => ({
  contentType: headers.get("Content-Type") ?? "",
  prosodyApplied: appliedParameters(headers),
});

const readCollection = async (response: Response, receivedAt: number): Promise<VoiceCollection> => {
  const { voices, systemVoices } = await readJson<{
    voices: VoiceWithLinks[];
    systemVoices: SystemVoice[];
  }>(response);
  return {
    lastUpdated: new Date(receivedAt).toISOString(),
    version: response.headers.get("ETag")?.replaceAll('"', "") ?? "",
    voices,
    systemVoices,
  };
};

/** The URL in a `Link` header that names marks. */
export const marksUrl = ({ headers, url }: Response, baseUrl: string): string | undefined => {
  const reference = headers.get("Link")?.match(/<([^>]*)>; rel="describedby"/)?.[1];
  return reference && new URL(reference, url || baseUrl).href;
};
