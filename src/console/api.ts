/** An error that the service has reported in its envelope of errors. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  /** The members of the request that are wrong. */
  readonly issues: readonly FieldIssue[];

  constructor(status: number, { message, code, errors }: ErrorBody) {
    super(message ?? `The service responded with ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.issues = Array.isArray(errors) ? errors.flatMap(toIssue) : [];
  }
}

/** A wrong member of a request, by its path. */
interface FieldIssue {
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

type RequestOptions = RequestInit & { readonly query?: Query | undefined };

interface ApiOptions {
  /** The root of the service, with a slash at the end. */
  readonly base: string;
  readonly token: string;
  /** Called when the service no longer accepts the token. */
  readonly onUnauthorized: () => void;
}

export type Api = ReturnType<typeof createApi>;

/**
 * The service's API with the signed-in person's token. Every method throws `ApiError`, or the
 * signal's reason.
 */
export const createApi = ({ base, token, onUnauthorized }: ApiOptions) => {
  /** The response itself, if its status is a success. */
  const open = async (
    path: string,
    { query = {}, headers, ...init }: RequestOptions = {},
  ): Promise<Response> => {
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
    get: async <T>(path: string, options?: RequestOptions): Promise<T> =>
      await readJson(await open(path, options)),
    send: async <T = unknown>(method: string, path: string, body?: unknown): Promise<T> => {
      const content = body !== undefined && {
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      };
      return await readJson(await open(path, { method, ...content }));
    },
  };
};

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

/** The chunks of a response. Not every browser can iterate over a body. */
export async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** True if a request was cancelled, which is no failure to show. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";
