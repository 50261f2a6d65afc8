import type { Middleware } from "koa";

/** The one path of v1 that remains, however the router lets it be written. */
const legacyPath = /^\/v1\/text(?::|%3a)synthesize\/?$/i;

/** Since when it is deprecated, and when it ends. */
const deprecated = new Date("2026-01-01T00:00:00Z");
const sunset = new Date("2027-12-31T23:59:59Z");

/** Tells with every answer under v1's path, refusals included, that it ends and what has taken its place. */
export const tellDeprecation = (publicUrl: string | undefined): Middleware => {
  const headers = {
    Deprecation: `@${deprecated.getTime() / 1_000}`, // RFC 9745
    Sunset: sunset.toUTCString(), // RFC 8594
    Link: `<${publicUrl ?? ""}/v2/text/synthesize>; rel="successor-version"`,
  };
  return async (ctx, next) => {
    if (legacyPath.test(ctx.path)) ctx.set(headers);
    await next();
  };
};
