import type { StartTimer } from "../dom.ts";
import { abortError, errorFromResponse, networkError, timeoutError, VoxledgerError } from "../errors.ts";

/** A request to the service's HTTP API. */
export interface ApiRequest {
  readonly method?: "GET" | "POST";
  /** The path, relative to the base URL, without a leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** The `Accept` header. */
  readonly accept?: string;
  /** `no-store` bypasses the browser's HTTP cache. */
  readonly cache?: "no-store";
  /** A longer `Retry-After` is not waited for. */
  readonly maxWaitMs?: number | undefined;
  /** Replaces the library's timeout if it is shorter, in milliseconds. */
  readonly timeout?: number | undefined;
}

/** The headers and query parameters that authenticate a request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The bearer token in the headers. */
  readonly token?: string;
}

/**
 * Runs one step of a request. Each step has the whole timeout. When it expires, the request is
 * aborted.
 * @throws {VoxledgerError}
 */
type WithTimeout = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Reads a successful response. A stream that is read after the function has returned uses
 * `withTimeout` for each chunk.
 */
export type ReadResponse<T> = (response: Response, withTimeout: WithTimeout) => Promise<T>;

/**
 * Sends a request once and returns what `read` makes of the response.
 * @throws {VoxledgerError}
 */
export type SendRequest = <T>(
  request: ApiRequest,
  credentials: Credentials,
  read: ReadResponse<T>,
  signal: AbortSignal,
) => Promise<T>;

export const createSendRequest =
  ({
    baseUrl,
    timeout: longest,
    fetch,
    startTimer,
    onResponse,
  }: {
    baseUrl: string;
    /** The timeout in milliseconds. */
    timeout: number;
    fetch: typeof globalThis.fetch;
    startTimer: StartTimer;
    /** Called with method, path and status; never with the query or the body. */
    onResponse: (line: string) => void;
  }): SendRequest =>
  (request, { headers, query }, read, callerSignal) => {
    const timedOut = new AbortController();
    const timeout = Math.min(request.timeout ?? longest, longest);

    const toError = (error: unknown): VoxledgerError => {
      if (callerSignal.aborted) return abortError(callerSignal.reason);
      if (error instanceof VoxledgerError) return error;
      return timedOut.signal.aborted ? timeoutError(timeout, error) : networkError(error);
    };
    const withTimeout: WithTimeout = async (step) => {
      const stopTimer = startTimer(timeout, () => timedOut.abort());
      try {
        return await step();
      } catch (error) {
        throw toError(error);
      } finally {
        stopTimer();
      }
    };

    return withTimeout(async () => {
      const url = urlOf(baseUrl, { ...request, query: { ...request.query, ...query } });
      const signal = AbortSignal.any([callerSignal, timedOut.signal]);
      const init = requestInit(request, headers, signal);
      const response = await fetch(url, init);
      onResponse(`${init.method} ${request.path}: ${response.status}`);
      if (!response.ok) throw await errorFromResponse(response);
      return await read(response, withTimeout);
    });
  };

const requestInit = (
  { method = "GET", body, accept, cache }: ApiRequest,
  headers: Credentials["headers"],
  signal: AbortSignal,
): RequestInit => ({
  method,
  headers: {
    ...headers,
    ...(accept !== undefined && { Accept: accept }),
    ...(body !== undefined && { "Content-Type": "application/json" }),
  },
  ...(body !== undefined && { body: JSON.stringify(body) }),
  ...(cache && { cache }),
  credentials: "omit",
  // Browsers send no Origin with a same-origin GET: the service then reads the origin from the
  // Referer.
  referrerPolicy: "origin",
  signal,
});

export const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T;

/** The absolute URL of a request. */
export const urlOf = (baseUrl: string, { path, query = {} }: ApiRequest): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const base = /^https?:/.test(path) ? "" : baseUrl;
  return `${base}${path}${search.size > 0 ? `?${search}` : ""}`;
};
