import type { Exchange } from "./exchange.ts";

/** A bearer token; `exp` in unix seconds. */
export interface AuthToken {
  readonly token: string;
  readonly exp: number;
}

/** What proves who asks: the secret where there is one, or else a token, or else the key with the page's origin. */
export interface Session {
  /** The headers of the next request; a token that is about to expire is refreshed first. */
  headers(): Promise<Record<string, string>>;
  /**
   * The query of a socket's address, which cannot be given headers: a token, or else the key with the page's origin, and
   * never the secret.
   * @throws {VoxledgerError} where the secret should be good for a token and is not
   */
  query(): Promise<{ readonly token: string } | { readonly key: string }>;
  adopt(token: AuthToken | undefined): void;
  /** Takes the token that an answer renews, whatever prefix the operator gave its headers. */
  adoptRenewed(headers: Headers): void;
  /** Gets another token in place of one that was refused; false when there is none to replace. */
  replace(refused: string | undefined): Promise<boolean>;
}

/** So long before it expires a token is refreshed. */
const marginMs = 30_000;

export const createSession = ({
  apiKey,
  apiSecret,
  exchange,
  now,
}: {
  apiKey: string;
  apiSecret: string | undefined;
  exchange: Exchange;
  now: () => number;
}): Session => {
  const byKey = { "X-API-Key": apiKey, ...(apiSecret !== undefined && { "X-API-Secret": apiSecret }) };
  let current: (AuthToken & { readonly refreshAt: number }) | undefined;
  let refreshing: Promise<void> | undefined;

  const adopt = (token: AuthToken | undefined): void => {
    if (!token) return;
    // A browser may tell an answer from its cache again, with the token of that time.
    if (current && token.exp < current.exp) return;
    const refreshAt = token.exp * 1_000 - marginMs;
    // A token that is over when it comes was dated by another clock: then only a refusal can tell.
    current = { ...token, refreshAt: refreshAt > now() ? refreshAt : Number.POSITIVE_INFINITY };
  };

  /** One at a time, for all requests that wait for it, and so for none of them to cancel. */
  const refresh = (): Promise<void> => {
    const whole = new AbortController().signal;
    refreshing ??= exchange({ method: "POST", path: "v2/auth/refresh" }, byKey, tokenOf, whole)
      .then(adopt)
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  const refreshWhenDue = async (): Promise<void> => {
    if (!current || now() < current.refreshAt) return;
    await refresh().catch(() => {
      current = undefined; // the key is proof enough
    });
  };

  return {
    adopt,
    headers: async () => {
      if (apiSecret !== undefined) return { ...byKey };
      await refreshWhenDue();
      return current ? { Authorization: `Bearer ${current.token}` } : { ...byKey };
    },
    query: async () => {
      await refreshWhenDue();
      if (!current && apiSecret !== undefined) await refresh();
      return current ? { token: current.token } : { key: apiKey };
    },
    adoptRenewed: (answer) => adopt(renewedIn(answer)),
    replace: async (refused) => {
      if (refused === undefined) return false;
      // Another request may have replaced it while this one was on its way.
      if (current?.token === refused) await refresh();
      return true;
    },
  };
};

/** The token that the headers of a request carried. */
export const bearerIn = ({ Authorization }: Readonly<Record<string, string>>): string | undefined =>
  Authorization?.replace(/^Bearer /, "");

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
