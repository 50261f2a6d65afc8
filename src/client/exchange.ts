import { refusal, VoxledgerError } from "./errors.ts";

/** A request to the service. */
export interface Call {
  readonly method?: "GET" | "POST";
  /** Under the service's address, without a slash at its beginning. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

/** Makes one attempt: headers in, what `read` makes of the answer out. @throws {VoxledgerError} */
export type Exchange = <T>(
  call: Call,
  headers: Readonly<Record<string, string>>,
  read: (response: Response) => Promise<T>,
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
  async (call, headers, read, signal) => {
    const limit = AbortSignal.timeout(timeout);
    const { method = "GET", path, body } = call;
    try {
      const response = await fetch(addressOf(baseUrl, call), {
        method,
        headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        credentials: "omit",
        // A page of the service's own origin sends no Origin with a GET: the referrer then tells it, and no more.
        referrerPolicy: "origin",
        signal: AbortSignal.any([signal, limit]),
      });
      note(`${method} ${path}: ${response.status}`);
      if (!response.ok) throw await refusal(response);
      return await read(response);
    } catch (error) {
      throw failure(error, { signal, limit, timeout });
    }
  };

/** The full address of a call. */
export const addressOf = (baseUrl: string, { path, query = {} }: Call): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${baseUrl}${path}${search.size > 0 ? `?${search}` : ""}`;
};

const failure = (
  error: unknown,
  { signal, limit, timeout }: { signal: AbortSignal; limit: AbortSignal; timeout: number },
): VoxledgerError => {
  if (signal.aborted) return aborted(signal.reason);
  if (error instanceof VoxledgerError) return error;
  if (limit.aborted) {
    return new VoxledgerError(`The service did not answer within ${timeout} ms.`, {
      code: "TIMEOUT",
      cause: error,
    });
  }
  return new VoxledgerError("The service could not be reached.", { code: "NETWORK", cause: error });
};

export const aborted = (reason?: unknown): VoxledgerError =>
  new VoxledgerError("It was cancelled.", { code: "ABORTED", cause: reason });
