import { VoxledgerError } from "../errors.ts";
import type { ApiRequest, Credentials, SendRequest } from "./http.ts";

/** A bearer token; `exp` in unix seconds. */
export interface AuthToken {
  readonly token: string;
  readonly exp: number;
}

/** Proves who asks: by the secret where there is one, or else by the key with the page's origin, or by a token. */
export interface Session {
  /**
   * The credentials of a request. Without a secret, a request that has no body carries the key in its address and no
   * header of its own: browsers send it without a preflight, and caches know its address again. One that has a body
   * needs a preflight anyway, and carries the token.
   */
  credentials(call: ApiRequest): Promise<Credentials>;
  /**
   * The query of a WebSocket's address, since a page cannot set its headers: a token, or else the key with the page's
   * origin. Never the secret: it is traded for a token first.
   * @throws {VoxledgerError} if that is refused
   */
  socketQuery(): Promise<{ readonly token: string } | { readonly key: string }>;
  /** Keeps the token from now on. The latest that is received counts, whenever it expires. */
  storeToken(token: AuthToken | undefined): void;
  /** Adopts the token that an answer renews, whatever prefix the operator gave its headers. */
  storeRenewedToken(headers: Headers): void;
  /**
   * Gets another token if the error may be due to that one: a 401, or a 429 if the token has expired. False if not.
   * @throws {VoxledgerError} if no other token is given
   */
  replaceTokenAfter(error: unknown, token: string | undefined): Promise<boolean>;
  /** Gets a token by the secret, or by the key and the page's origin. @throws {VoxledgerError} */
  refresh(): Promise<void>;
}

/** How long before its end a token is replaced: a quarter of its life, 30 s at most, and the second that `iat` is rounded by. */
const marginOf = (lifetimeMs: number): number => Math.min(30_000, lifetimeMs / 4) + 1_000;

interface HeldToken {
  readonly token: string;
  /** By the clock of this machine, which may be wrong: only what has passed since is used. */
  readonly receivedAt: number;
  readonly lifetimeMs: number;
}

export const createSession = ({
  apiKey,
  apiSecret,
  exchange,
  now,
}: {
  apiKey: string;
  apiSecret: string | undefined;
  exchange: SendRequest;
  now: () => number;
}): Session => {
  const byKey: Credentials =
    apiSecret === undefined
      ? { headers: {}, query: { key: apiKey } }
      : { headers: { "X-API-Key": apiKey, "X-API-Secret": apiSecret }, query: {} };
  let current: HeldToken | undefined;
  let refreshing: Promise<void> | undefined;

  const storeToken = (token: AuthToken | undefined): void => {
    if (!token) return;
    const receivedAt = now();
    const issuedAt = issuedAtOf(token.token) ?? receivedAt / 1_000;
    current = { token: token.token, receivedAt, lifetimeMs: (token.exp - issuedAt) * 1_000 };
  };

  /** One at a time, shared by all requests that wait for it, so that none of them may cancel it. */
  const refresh = (): Promise<void> => {
    const uncancelled = new AbortController().signal;
    refreshing ??= exchange({ method: "POST", path: "v2/auth/refresh" }, byKey, tokenOf, uncancelled)
      .then(storeToken)
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  const endsWithin = ({ receivedAt, lifetimeMs }: HeldToken, ms: number): boolean => {
    const age = now() - receivedAt;
    return age < 0 || age >= lifetimeMs - ms; // a clock that was set back tells nothing
  };

  /** The token, refreshed if it is about to expire; undefined where the key has to do. */
  const validToken = async (): Promise<string | undefined> => {
    if (current && endsWithin(current, marginOf(current.lifetimeMs))) {
      await refresh().catch(() => {
        current = undefined;
      });
    }
    return current?.token;
  };

  return {
    storeToken,
    refresh,
    storeRenewedToken: (answer) => storeToken(renewedIn(answer)),
    credentials: async ({ body }) => {
      if (apiSecret !== undefined || body === undefined) return byKey;
      const token = await validToken();
      if (token !== undefined) return { headers: { Authorization: `Bearer ${token}` }, query: {}, token };
      return byKey;
    },
    socketQuery: async () => {
      const token = await validToken();
      if (token !== undefined) return { token };
      if (apiSecret === undefined) return { key: apiKey };
      await refresh();
      return { token: current?.token ?? "" };
    },
    replaceTokenAfter: async (error, token) => {
      if (token === undefined || !(error instanceof VoxledgerError)) return false;
      const isHeld = current?.token === token;
      const hasExpired = isHeld && current !== undefined && endsWithin(current, 0);
      const mayBeDue = isUnauthorized(error) || (error.status === 429 && hasExpired);
      if (mayBeDue && isHeld) await refresh(); // otherwise another request has replaced it already
      return mayBeDue;
    },
  };
};

/** Over a WebSocket there is no status. */
const isUnauthorized = ({ status, code }: VoxledgerError): boolean =>
  status === 401 || (status === undefined && code === "UNAUTHORIZED");

/** When the token was issued, by the service's clock, in unix seconds; undefined for one that is not a JWT. */
const issuedAtOf = (token: string): number | undefined => {
  try {
    const payload = token.split(".")[1] ?? "";
    const { iat } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    return Number.isFinite(iat) ? iat : undefined;
  } catch {
    return undefined;
  }
};

const tokenOf = async (response: Response): Promise<AuthToken> => (await response.json()) as AuthToken;

const renewedIn = (headers: Headers): AuthToken | undefined => {
  let token: string | undefined;
  let exp = Number.NaN;
  headers.forEach((value, name) => {
    if (/^x-.+-auth-renewed$/i.test(name)) token = value;
    if (/^x-.+-auth-renewed-exp$/i.test(name)) exp = Number(value);
  });
  return token !== undefined && Number.isFinite(exp) ? { token, exp } : undefined;
};
