import type { Exchange, UpstreamRequest } from "../provider-http/exchange.ts";

/** A server with OpenAI's speech API. */
export interface SpeechServer {
  /**
   * The address with or without its version (`/v1`). A query (`?api-version=…`) is sent with every
   * request.
   */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; many self-hosted servers need none. */
  readonly apiKey?: string | undefined;
  /** True if it reports when words are spoken, by Kokoro-FastAPI's `/dev/captioned_speech`. */
  readonly captions?: boolean | undefined;
  readonly exchange: Exchange;
}

/** `path` is below the version (`audio/speech`), or beside it if it begins with a slash. */
export const requestOf = (
  server: Pick<SpeechServer, "baseUrl" | "apiKey">,
  path: string,
  body?: object,
): UpstreamRequest => ({
  method: body ? "POST" : "GET",
  url: endpoint(server, path),
  headers: {
    "User-Agent": "voxledger",
    ...(server.apiKey !== undefined && { Authorization: `Bearer ${server.apiKey}` }),
    ...(body && { "Content-Type": "application/json" }),
  },
  ...(body && { body: JSON.stringify(body) }),
});

/** Address and model, without credentials. Recipes contain them. */
export const serverIdentity = (server: Pick<SpeechServer, "baseUrl" | "model">): string => {
  const { host, pathname } = endpoint(server, "");
  return `openai ${host}${pathname.replace(/\/$/, "")} ${server.model}`;
};

/** True for OpenAI's own service. */
export const isOpenAis = ({ baseUrl }: Pick<SpeechServer, "baseUrl">): boolean =>
  new URL(baseUrl).hostname === "api.openai.com";

const endpoint = ({ baseUrl }: Pick<SpeechServer, "baseUrl">, path: string): URL => {
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/\/+$/, "");
  const root = base.replace(/\/v\d+$/, "");
  const version = base.slice(root.length) || "/v1";
  url.pathname = path.startsWith("/") ? `${root}${path}` : `${root}${version}/${path}`;
  url.hash = "";
  return url;
};
