import type { IncomingMessage } from "node:http";
import type { Middleware } from "koa";
import type { Credentials } from "../../application/access/authentication.ts";
import { revalidatePrivately } from "../caching/cache-control.ts";

export type CredentialReader = ReturnType<typeof createCredentialReader>;

/**
 * Reads the credentials of requests. `tokenHeaders`: the headers, in lower case, in which clients
 * of compatible APIs send tokens.
 */
export const createCredentialReader = (tokenHeaders: readonly string[]) => {
  const tokenIn = ({ headers }: IncomingMessage): string | undefined => {
    if (headers.authorization !== undefined) return bearerOf(headers.authorization);
    const name = tokenHeaders.find((each) => headers[each] !== undefined);
    return name === undefined ? undefined : (single(headers[name]) ?? "");
  };
  const names = ["X-API-Key", "X-API-Secret", "Authorization", ...tokenHeaders];
  const inLowerCase = names.map((name) => name.toLowerCase());
  return {
    /**
     * Reads the one credential that counts: a secret takes precedence over a token, and a token
     * over an origin, valid or not. Every operation reads the same credentials, so the caller of a
     * request never depends on its path.
     */
    read: (request: IncomingMessage): Credentials => {
      const apiKey = single(request.headers["x-api-key"]);
      const secret = request.headers["x-api-secret"];
      if (secret !== undefined) return { by: "secret", apiKey, apiSecret: single(secret) ?? "" };
      const origin = originOf(request);
      const token = tokenIn(request);
      if (token !== undefined) return byToken(token, apiKey, origin);
      return { by: "origin", apiKey: apiKey ?? keyInQuery(request.url ?? ""), origin };
    },
    /**
     * True if a header has credentials, valid or not. Some clients without a key send
     * `Authorization: Bearer` without a token.
     */
    finds: ({ headers }: IncomingMessage): boolean =>
      inLowerCase.some((name) => !/^(bearer)?\s*$/i.test(String(headers[name] ?? ""))),
    /** The headers that may have credentials. */
    headers: names,
  };
};

/**
 * `API_KEY.API_SECRET` is a key with its secret, for clients that send a single token. An access
 * token is a JWT, which has two dots; keys and secrets have none.
 */
const byToken = (token: string, apiKey: string | undefined, origin: string | undefined): Credentials => {
  const [key, apiSecret, ...others] = token.split(".", 3);
  if (apiSecret === undefined || others.length > 0) return { by: "token", token, apiKey, origin };
  return { by: "secret", apiKey: key, apiSecret };
};

/** Reads the token of `Authorization: Bearer`; empty without a token, and for any other scheme. */
export const bearerOf = (authorization = ""): string => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";

/**
 * Reads the origin of a request from `Origin`, or from `Referer` where browsers send no `Origin`
 * (GET and HEAD for elements of a page). Undefined for `Origin: null`.
 */
export const originOf = ({ method, headers }: IncomingMessage): string | undefined => {
  const { origin, referer } = headers;
  if (origin !== undefined) return identified(origin);
  if (referer === undefined || (method !== "GET" && method !== "HEAD")) return undefined;
  return identified(URL.parse(referer)?.origin);
};

/** All opaque origins (sandboxed frames, files) are `null`, which identifies none of them. */
const identified = (origin: string | undefined): string | undefined =>
  origin === "null" ? undefined : origin;

/** The `key` parameter, unless it is repeated. */
const keyInQuery = (url: string): string | undefined => {
  const [key, ...others] = new URLSearchParams(url.slice(url.indexOf("?") + 1)).getAll("key");
  return others.length === 0 ? key : undefined;
};

const single = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;

/**
 * Adds the headers that may have credentials to the `Vary` of responses that only the caller's own
 * cache stores.
 */
export const varyByCredentials =
  (headers: readonly string[]): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.response.get("Cache-Control") === revalidatePrivately) ctx.vary([...headers]);
  };
