import type { Middleware } from "koa";

/*
 * Which pages may read the answers (Fetch standard, CORS). Nothing here lets anyone in: that is the gate's affair, and no
 * cookie is involved. An origin that any website has verified may read, whichever key is asked with, for a preflight
 * cannot tell the key; with another website's key it reads a 401.
 */

/** The headers of an answer of /v2 or /v1 to a page of that origin; `Vary` is there with or without one. */
export type ApiCors = (origin: string | undefined) => Record<string, string>;

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
const allowedHeaders = "Authorization, Content-Type, If-None-Match, If-Range, Range, X-API-Key";

/** As long as browsers take it (Chromium: two hours). It outlives an origin's withdrawal, which the answers then tell. */
const preflightSeconds = 7_200;

/** Tells browsers which pages may read the answers, and answers their preflights: those carry no credentials. */
export const cors = (apiCors: ApiCors, exposed: readonly string[]): Middleware => {
  const toAnyone = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": exposed.join(", "),
  };

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
    if (headers.Vary) ctx.vary(headers.Vary); // an answer that varies by more has set its own
  };
};

const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST",
  "Access-Control-Allow-Headers": allowedHeaders,
  "Access-Control-Max-Age": String(preflightSeconds),
};
