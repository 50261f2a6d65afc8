/** Errors of the service, in its envelope. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  /** Which members of the request are wrong. */
  readonly issues: readonly FieldIssue[];

  constructor(status: number, { message, code, errors }: ErrorBody) {
    super(message ?? `The service answered with ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.issues = Array.isArray(errors) ? errors.flatMap(toIssue) : [];
  }
}

/** A wrong member of a request, by its path. */
export interface FieldIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly errors?: unknown;
}

const toIssue = (issue: unknown): FieldIssue[] => {
  const { path, message } = Object(issue);
  return typeof message === "string" ? [{ path: Array.isArray(path) ? path : [], message }] : [];
};

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal | undefined;
}

export interface LinesOptions extends RequestOptions {
  /** Called with every line, without its line end. */
  readonly onLine: (line: string) => void;
  /** Called after each chunk with the bytes received so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** The service's API with the signed-in person's token. Every method throws `ApiError`, or the signal's reason. */
export interface Api {
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  send<T = unknown>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  /** Reads a response line by line. */
  lines(path: string, options: LinesOptions): Promise<void>;
  /** The response itself, if its status is a success. */
  open(path: string, init?: RequestInit & { readonly query?: Query }): Promise<Response>;
}

interface ApiOptions {
  /** The root of the service, with a slash at the end. */
  readonly base: string;
  readonly token: string;
  /** Called when the service no longer accepts the token. */
  readonly onUnauthorized: () => void;
}

export const createApi = ({ base, token, onUnauthorized }: ApiOptions): Api => {
  const open: Api["open"] = async (path, { query = {}, headers, ...init } = {}) => {
    const response = await fetch(addressOf(base, path, query), {
      cache: "no-store",
      credentials: "omit",
      ...init,
      headers: { ...Object(headers), Authorization: `Bearer ${token}` },
    });
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.status === 401) onUnauthorized();
    throw error;
  };
  return {
    open,
    get: async (path, options = {}) => await readJson(await open(path, withSignal(options))),
    send: async (method, path, body, options = {}) => {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = body === undefined ? {} : { "Content-Type": "application/json" };
      return await readJson(await open(path, { ...withSignal(options), method, headers, ...content }));
    },
    lines: async (path, { onLine, onProgress = () => {}, ...options }) =>
      await readLines(await open(path, withSignal(options)), onLine, onProgress),
  };
};

const withSignal = ({ query, signal }: RequestOptions) => ({
  ...(query && { query }),
  ...(signal && { signal }),
});

const addressOf = (base: string, path: string, query: Query): string => {
  const url = new URL(path.replace(/^\//, ""), base);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    if (typeof value !== "object") url.searchParams.set(name, String(value));
    else for (const each of value) url.searchParams.append(name, each);
  }
  return url.href;
};

const readJson = async <T>(response: Response): Promise<T> => {
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
};

const errorOf = async (response: Response): Promise<ApiError> => {
  const body: unknown = await response.json().catch(() => undefined);
  return new ApiError(response.status, Object(Object(body).error));
};

const readLines = async (
  { body }: Response,
  onLine: (line: string) => void,
  onProgress: (bytes: number) => void,
): Promise<void> => {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onLine(line);
    if (done) break;
    bytes += value.length;
    onProgress(bytes);
  }
  if (rest !== "") onLine(rest);
};

/** Whether a request was cancelled, which is no failure to show. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";
