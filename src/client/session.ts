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
  adopt(token: AuthToken | undefined): void;
  /** Takes the token that an answer renews, whatever prefix the operator gave its headers. */
  adoptRenewed(headers: Headers): void;
  /** Gets another token in place of one that was refused; false when there is none to replace. */
  replace(refused: Readonly<Record<string, string>>): Promise<boolean>;
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
  const byKey = { "X-API-Key": apiKey };
  let current: (AuthToken & { readonly refreshAt: number }) | undefined;
  let refreshing: Promise<void> | undefined;

  const adopt = (token: AuthToken | undefined): void => {
    if (apiSecret !== undefined || !token) return;
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

  const headers = (): Record<string, string> => {
    if (apiSecret !== undefined) return { ...byKey, "X-API-Secret": apiSecret };
    return current ? { Authorization: `Bearer ${current.token}` } : { ...byKey };
  };

  return {
    adopt,
    headers: async () => {
      if (current && now() >= current.refreshAt) {
        // Without a fresh token the key and the origin are proof enough.
        await refresh().catch(() => {
          current = undefined;
        });
      }
      return headers();
    },
    adoptRenewed: (answer) => adopt(renewedIn(answer)),
    replace: async ({ Authorization: refused }) => {
      if (refused === undefined) return false;
      // Another request may have replaced it while this one was on its way.
      if (headers().Authorization === refused) await refresh();
      return true;
    },
  };
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
