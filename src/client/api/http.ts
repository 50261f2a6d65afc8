import { errorFromResponse } from "../errors.ts";
import { createTimeLimit, type Within } from "../transport/time-limit.ts";

/** A request to the service. */
export interface ApiRequest {
  readonly method?: "GET" | "POST";
  /** Under the service's address, without a slash at its beginning. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** The kind of answer that is asked for, where there are several. */
  readonly accept?: string;
  /** Set where the browser's HTTP cache must not answer. */
  readonly cache?: "no-store";
}

/** What a request carries to show who asks. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The bearer token among the headers. */
  readonly token?: string;
}

/** Makes something of an answer. What it goes on reading after it has returned is read `within` the same limit. */
export type ReadResponse<T> = (response: Response, within: Within) => Promise<T>;

/** Sends a request once and returns what `read` makes of the answer. @throws {VoxledgerError} */
export type SendRequest = <T>(
  call: ApiRequest,
  credentials: Credentials,
  read: ReadResponse<T>,
  signal: AbortSignal,
) => Promise<T>;

export const createSendRequest =
  ({
    baseUrl,
    timeout,
    fetch,
    note,
  }: {
    baseUrl: string;
    timeout: number;
    fetch: typeof globalThis.fetch;
    /** Told of each answer's status: never of what was asked for. */
    note: (line: string) => void;
  }): SendRequest =>
  (call, { headers, query }, read, leaving) => {
    const { signal, within } = createTimeLimit(timeout, leaving);
    const { method = "GET", path, body, accept, cache } = call;
    return within(async () => {
      const response = await fetch(urlOf(baseUrl, { ...call, query: { ...call.query, ...query } }), {
        method,
        headers: {
          ...headers,
          ...(accept !== undefined && { Accept: accept }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(cache && { cache }),
        credentials: "omit",
        // A page of the service's own origin sends no Origin with a GET: the referrer then tells it, and no more.
        referrerPolicy: "origin",
        signal,
      });
      note(`${method} ${path}: ${response.status}`);
      if (!response.ok) throw await errorFromResponse(response);
      return await read(response, within);
    });
  };

/** The full address of a call. */
export const urlOf = (baseUrl: string, { path, query = {} }: ApiRequest): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${baseUrl}${path}${search.size > 0 ? `?${search}` : ""}`;
};
