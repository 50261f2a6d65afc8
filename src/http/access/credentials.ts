import type { IncomingMessage } from "node:http";
import type { Credentials } from "../../application/access/authentication.ts";

/** The one credential that counts: a secret takes precedence over a token, and a token over an origin, valid or not. */
export const credentialsOf = (request: IncomingMessage): Credentials => {
  const { authorization, "x-api-secret": secret } = request.headers;
  const apiKey = single(request.headers["x-api-key"]);
  if (secret !== undefined) return { by: "secret", apiKey, apiSecret: single(secret) ?? "" };
  const origin = originOf(request);
  if (authorization !== undefined) return { by: "token", token: bearerOf(authorization), apiKey, origin };
  return { by: "origin", apiKey: apiKey ?? keyInQuery(request.url ?? ""), origin };
};

/** The token of `Authorization: Bearer`; empty for any other scheme. */
export const bearerOf = (authorization: string): string =>
  /^Bearer +([\w.~+/=-]+)$/i.exec(authorization)?.[1] ?? "";

/**
 * The origin of a request: `Origin`, or the origin of `Referer` where browsers send no `Origin` (GET and HEAD for elements of
 * a page). Undefined for `Origin: null`.
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
