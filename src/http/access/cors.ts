import type { Context, Middleware } from "koa";
import type { Cors } from "../kernel/auth.ts";

/*
 * Decides which pages may read the responses (Fetch standard, CORS). This grants no access:
 * requests are authenticated separately, and no cookie is involved. An origin that is verified for
 * one website may read the responses to requests for every website: a preflight does not carry the
 * key, so the website is unknown. With another website's key the response is a 401.
 */

/**
 * The headers of a response that depends on the caller's origin; `Vary` is set with or without an
 * origin.
 */
export type ApiCors = (origin: string | undefined) => Record<string, string>;

/** The headers of a response that is the same for every caller. */
export const publicCors = (exposed: readonly string[]): Readonly<Record<string, string>> => ({
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(", "),
});

const varyByOrigin = { Vary: "Origin" };

export const createApiCors = ({
  isVerified,
  exposed,
}: {
  isVerified: (origin: string) => boolean;
  exposed: readonly string[];
}): ApiCors => {
  const exposedNames = exposed.join(", ");
  return (origin) => ({
    ...varyByOrigin,
    ...(origin !== undefined &&
      isVerified(origin) && {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": exposedNames,
      }),
  });
};

/** Chromium caps Max-Age at two hours. */
const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST",
  "Access-Control-Max-Age": "7200",
};
/** `X-API-Secret` is missing on purpose: a secret must not be used in a page. */
const allowedHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-None-Match, If-Range, Range, X-API-Key";

/**
 * Sets the headers of a preflight's response. At a compatible API, the headers that its clients add
 * are allowed as requested.
 */
const setPreflightHeaders = (ctx: Context): void => {
  const { "access-control-request-headers": requested = "" } = ctx.req.headers;
  const ofClients = ctx.state.route.api?.clientHeaders;
  if (ofClients) ctx.vary("Access-Control-Request-Headers");
  const added = requested
    .split(",", maxRequestedHeaders)
    .map((name) => name.trim())
    .filter((name) => ofClients?.test(name.toLowerCase()));
  ctx.set({ ...preflightHeaders, "Access-Control-Allow-Headers": [allowedHeaders, ...added].join(", ") });
};

const maxRequestedHeaders = 50;

/**
 * Sets the CORS headers of the path, and responds to preflights, which carry no credentials. A
 * handler whose response is the same for every origin sets `publicCors` itself.
 */
export const cors = (apiCors: ApiCors, exposed: readonly string[]): Middleware => {
  const anyOrigin = publicCors(exposed);
  const headersFor: Readonly<Record<Exclude<Cors, "same origin">, ApiCors>> = {
    "any origin": () => anyOrigin,
    "any origin, varying": () => ({ ...varyByOrigin, ...anyOrigin }),
    "verified origins": apiCors,
  };
  return async (ctx, next) => {
    const { origin, "access-control-request-method": requestedMethod } = ctx.req.headers;
    const policy = ctx.state.route.cors;
    if (policy === "same origin") return await next();
    const headers = headersFor[policy](origin);
    ctx.set(headers);
    const { refusal } = ctx.state;
    if (
      refusal === undefined &&
      ctx.method === "OPTIONS" &&
      origin !== undefined &&
      requestedMethod !== undefined
    ) {
      ctx.status = 204;
      if (headers["Access-Control-Allow-Origin"] !== undefined) setPreflightHeaders(ctx);
      return;
    }
    await next();
    if (policy === "verified origins" && isPublic(ctx)) ctx.remove("Vary");
  };
};

const isPublic = ({ headerSent, response }: Context): boolean =>
  !headerSent && response.get("Access-Control-Allow-Origin") === "*";
