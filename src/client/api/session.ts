import { VoxledgerError } from "../errors.ts";
import { type ApiRequest, type Credentials, type ReadResponse, readJson, type SendRequest } from "./http.ts";
import { type RetryOptions, withRetry } from "./retry.ts";

/** A bearer token; `exp` in Unix seconds. */
export interface AuthToken {
  readonly token: string;
  readonly exp: number;
}

/**
 * A token is replaced this long before it expires: a quarter of its lifetime, at most 30 s, plus 1
 * s for `iat`'s rounding.
 */
const expiryMarginMs = (lifetimeMs: number): number => Math.min(30_000, lifetimeMs / 4) + 1_000;

interface StoredToken {
  readonly token: string;
  /** The time by this machine's clock, which may be wrong: only the time elapsed since is used. */
  readonly receivedAt: number;
  readonly lifetimeMs: number;
}

interface SessionOptions {
  readonly apiKey: string;
  readonly apiSecret: string | undefined;
  readonly send: SendRequest;
  readonly retry: RetryOptions;
  readonly now: () => number;
}

/**
 * Authenticates requests with the API secret, or else with the API key and the page's origin, or
 * with a bearer token.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #keyCredentials: Credentials;
  #current: StoredToken | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    const { apiKey, apiSecret } = options;
    this.#options = options;
    this.#keyCredentials =
      apiSecret === undefined
        ? { headers: {}, query: { key: apiKey } }
        : { headers: { "X-API-Key": apiKey, "X-API-Secret": apiSecret }, query: {} };
  }

  /**
   * Sends an authenticated request. Retries transient failures and replaces a rejected token at
   * most once.
   * Without a secret, a request without a body carries the key in its URL and no custom header:
   * browsers send it without a preflight, and caches can serve it. A request with a body needs a
   * preflight anyway, and carries the token.
   * @throws {VoxledgerError}
   */
  request<T>(request: ApiRequest, read: ReadResponse<T>, signal: AbortSignal): Promise<T> {
    const { send, retry } = this.#options;
    const readAndRenew: ReadResponse<T> = (response, withTimeout) => {
      this.storeToken(renewedToken(response.headers));
      return read(response, withTimeout);
    };
    let hasReplacedToken = false;
    const attempt = async (): Promise<T> => {
      const credentials = await this.#credentialsFor(request);
      try {
        return await send(request, credentials, readAndRenew, signal);
      } catch (error) {
        if (hasReplacedToken) throw error;
        hasReplacedToken = await this.replaceTokenAfter(error, credentials.token);
        if (!hasReplacedToken) throw error;
        return await attempt();
      }
    };
    return withRetry(attempt, { ...retry, maxDelayMs: request.maxWaitMs }, signal);
  }

  /**
   * Resolves with the query of the WebSocket URL, which carries the credentials, because a page
   * cannot set the headers of a WebSocket. It has a token, or else the key. It never has the
   * secret, which is exchanged for a token first.
   * @throws {VoxledgerError} if no token is granted
   */
  async socketQuery(): Promise<{ readonly token: string } | { readonly key: string }> {
    const { apiKey, apiSecret } = this.#options;
    const token = await this.#validToken();
    if (token !== undefined) return { token };
    if (apiSecret === undefined) return { key: apiKey };
    await this.refresh();
    return { token: this.#current?.token ?? "" };
  }

  /** Uses this token from now on, even if it expires sooner than the last one. */
  storeToken(token: AuthToken | undefined): void {
    if (!token) return;
    const receivedAt = this.#options.now();
    const issuedAt = issuedAtOf(token.token) ?? receivedAt / 1_000;
    this.#current = { token: token.token, receivedAt, lifetimeMs: (token.exp - issuedAt) * 1_000 };
  }

  /**
   * Replaces the token if it may have caused the error. Otherwise returns false.
   * @throws {VoxledgerError} if no token is granted
   */
  async replaceTokenAfter(error: unknown, token: string | undefined): Promise<boolean> {
    if (token === undefined || !(error instanceof VoxledgerError) || !isUnauthorized(error)) return false;
    if (this.#current?.token === token) await this.refresh(); // otherwise another request has replaced it already
    return true;
  }

  /**
   * Requests a token with the secret, or with the key and the page's origin. All requests that need
   * a token share one refresh, so none of them may abort it.
   * @throws {VoxledgerError}
   */
  refresh(): Promise<void> {
    const neverAborted = new AbortController().signal;
    const request = { method: "POST", path: "v2/auth/refresh" } as const;
    this.#refreshing ??= this.#options
      .send(request, this.#keyCredentials, readJson<AuthToken>, neverAborted)
      .then((token) => this.storeToken(token))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #credentialsFor({ body }: ApiRequest): Promise<Credentials> {
    if (this.#options.apiSecret !== undefined || body === undefined) return this.#keyCredentials;
    const token = await this.#validToken();
    if (token === undefined) return this.#keyCredentials;
    return { headers: { Authorization: `Bearer ${token}` }, query: {}, token };
  }

  /** The current token, refreshed if it is about to expire; undefined if there is none. */
  async #validToken(): Promise<string | undefined> {
    if (this.#current && this.#expiresWithin(this.#current, expiryMarginMs(this.#current.lifetimeMs))) {
      await this.refresh().catch(() => {
        this.#current = undefined;
      });
    }
    return this.#current?.token;
  }

  #expiresWithin({ receivedAt, lifetimeMs }: StoredToken, ms: number): boolean {
    const age = this.#options.now() - receivedAt;
    return age < 0 || age >= lifetimeMs - ms; // negative: the clock was set back, and the age is unknown
  }
}

/** An error received over a WebSocket has no status. */
const isUnauthorized = ({ status, code }: VoxledgerError): boolean =>
  status === 401 || (status === undefined && code === "UNAUTHORIZED");

/**
 * The token's `iat` claim: Unix seconds by the service's clock. Undefined if the token is not a
 * JWT.
 */
const issuedAtOf = (token: string): number | undefined => {
  try {
    const payload = token.split(".")[1] ?? "";
    const { iat } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    return Number.isFinite(iat) ? iat : undefined;
  } catch {
    return undefined;
  }
};

/** The renewed token of a response. The prefix of its headers is the operator's choice. */
const renewedToken = (headers: Headers): AuthToken | undefined => {
  let token: string | undefined;
  let exp = Number.NaN;
  headers.forEach((value, name) => {
    if (/^x-.+-auth-renewed$/i.test(name)) token = value;
    if (/^x-.+-auth-renewed-exp$/i.test(name)) exp = Number(value);
  });
  return token !== undefined && Number.isFinite(exp) ? { token, exp } : undefined;
};
