import type { Context, Middleware } from "koa";
import type { AccessTokens } from "../../application/access/access-tokens.ts";
import { isPrivate } from "../caching/cache-control.ts";
import type { HeaderNames } from "../kernel/headers.ts";

/**
 * Adds a new access token to the response if the presented one is past half its lifetime, but only
 * if shared caches do not store the response. The client library sends tokens only with requests
 * that have a body, so browser caches cannot replay an old token. Does nothing once the headers are
 * sent.
 */
export type RenewToken = (ctx: Context) => void;

export const createRenewToken =
  (accessTokens: AccessTokens, names: HeaderNames): RenewToken =>
  (ctx) => {
    const { caller } = ctx.state;
    if (!caller || ctx.headerSent || !isPrivate(ctx.response.get("Cache-Control"))) return;
    const renewed = accessTokens.renew(caller.principal);
    if (renewed) ctx.set({ [names.authRenewed]: renewed.token, [names.authRenewedExp]: String(renewed.exp) });
  };

/** A handler that sends its headers itself must call `renewToken` before it sends them. */
export const renewTokens =
  (renewToken: RenewToken): Middleware =>
  async (ctx, next) => {
    await next();
    renewToken(ctx);
  };
