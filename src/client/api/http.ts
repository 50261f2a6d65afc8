import { refusal } from "../errors.ts";
import { createTimeLimit, type Within } from "../transport/time-limit.ts";

/** A request to the service. */
export interface Call {
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
export type Read<T> = (response: Response, within: Within) => Promise<T>;

/** Sends a request once and returns what `read` makes of the answer. @throws {VoxledgerError} */
export type Exchange = <T>(
  call: Call,
  credentials: Credentials,
  read: Read<T>,
  signal: AbortSignal,
) => Promise<T>;

export const createExchange =
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
  }): Exchange =>
  (call, { headers, query }, read, leaving) => {
    const { signal, within } = createTimeLimit(timeout, leaving);
    const { method = "GET", path, body, accept, cache } = call;
    return within(async () => {
      const response = await fetch(addressOf(baseUrl, { ...call, query: { ...call.query, ...query } }), {
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
      if (!response.ok) throw await refusal(response);
      return await read(response, within);
    });
  };

/** The full address of a call. */
export const addressOf = (baseUrl: string, { path, query = {} }: Call): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${baseUrl}${path}${search.size > 0 ? `?${search}` : ""}`;
};
