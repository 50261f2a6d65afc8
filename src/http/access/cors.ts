import type { Context, Middleware } from "koa";

/*
 * Which pages may read the answers (Fetch standard, CORS). Nothing here lets anyone in: that is the gate's affair, and no
 * cookie is involved. An origin that any website has verified may read, whichever key is asked with, for a preflight
 * cannot tell the key; with another website's key it reads a 401.
 */

/** The headers of an answer of /v2 or /v1 that depends on the caller's origin; `Vary` is there with or without one. */
export type ApiCors = (origin: string | undefined) => Record<string, string>;

/** The headers of an answer that is the same for every caller, whatever its origin. */
export const publicCors = (exposed: readonly string[]): Readonly<Record<string, string>> => ({
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(", "),
});

export const createApiCors = ({
  isVerified,
  exposed,
}: {
  isVerified: (origin: string) => boolean;
  exposed: readonly string[];
}): ApiCors => {
  const expose = exposed.join(", ");
  return (origin) =>
    origin !== undefined && isVerified(origin)
      ? {
          Vary: "Origin",
          "Access-Control-Allow-Origin": origin,
          "Access-Control-Expose-Headers": expose,
        }
      : { Vary: "Origin" };
};

const api = /^\/v[12]\//i;

/** An origin proves itself here before it is verified: whoever holds the token may ask from anywhere. */
const proving = /^\/v2\/auth\/verify-origin\/?$/i;

/** What needs no credentials and is the same for everybody. */
const forAnyone = /^\/(audio\/|health(\/(live|ready))?$|openapi\.json$|client\.js$)/i;

/** Headers that a page may send. Not X-API-Secret: a secret has no business in a page. */
const allowedHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-None-Match, If-Range, Range, X-API-Key";

/** As long as browsers take it (Chromium: two hours). It outlives an origin's withdrawal, which the answers then tell. */
const preflightSeconds = 7_200;

/**
 * Tells browsers which pages may read the answers, and answers their preflights: those carry no credentials. A handler
 * whose answer is the same for every origin sets `publicCors` itself.
 */
export const cors = (apiCors: ApiCors, exposed: readonly string[]): Middleware => {
  const toAnyone = publicCors(exposed);

  const headersFor = (path: string, origin: string | undefined): Record<string, string> | undefined => {
    if (proving.test(path)) return { Vary: "Origin", ...toAnyone };
    if (api.test(path)) return apiCors(origin);
    return forAnyone.test(path) ? toAnyone : undefined;
  };

  return async (ctx, next) => {
    const { origin, "access-control-request-method": methodAsked } = ctx.req.headers;
    const headers = headersFor(ctx.path, origin);
    if (!headers) return await next();
    ctx.set(headers);
    if (ctx.method === "OPTIONS" && origin !== undefined && methodAsked !== undefined) {
      ctx.status = 204;
      if (headers["Access-Control-Allow-Origin"] !== undefined) ctx.set(preflightHeaders);
      return;
    }
    await next();
    if (headers.Vary && isMadePublic(ctx, headers)) ctx.remove("Vary");
  };
};

const isMadePublic = ({ headerSent, response }: Context, was: Readonly<Record<string, string>>): boolean =>
  !headerSent &&
  was["Access-Control-Allow-Origin"] !== "*" &&
  response.get("Access-Control-Allow-Origin") === "*";

const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST",
  "Access-Control-Allow-Headers": allowedHeaders,
  "Access-Control-Max-Age": String(preflightSeconds),
};
