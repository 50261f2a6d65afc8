import type { IncomingMessage } from "node:http";
import type { Credentials } from "../../application/access/authentication.ts";

/**
 * What the request presents, in one form alone: a secret outranks a token, a token outranks an origin, and whichever is
 * there decides, right or wrong.
 */
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
 * The origin that the request comes from, as its sender tells it: `Origin`, or, where browsers send none (GET and HEAD
 * for a page's own elements), the origin of `Referer`. `Origin: null` is an answer too, and no origin.
 */
export const originOf = ({ method, headers }: IncomingMessage): string | undefined => {
  const { origin, referer } = headers;
  if (origin !== undefined) return named(origin);
  if (referer === undefined || (method !== "GET" && method !== "HEAD")) return undefined;
  return named(URL.parse(referer)?.origin);
};

/** Opaque origins (sandboxed frames, files) all call themselves `null`: it names nobody. */
const named = (origin: string | undefined): string | undefined => (origin === "null" ? undefined : origin);

/** The query's `key`, given once. */
const keyInQuery = (url: string): string | undefined => {
  const [key, ...others] = new URLSearchParams(url.slice(url.indexOf("?") + 1)).getAll("key");
  return others.length === 0 ? key : undefined;
};

const single = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;
