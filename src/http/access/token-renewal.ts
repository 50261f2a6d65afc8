import type { Context, Middleware } from "koa";
import type { AccessTokens } from "../../application/access/access-tokens.ts";
import type { HeaderNames } from "../kernel/header-names.ts";

/**
 * Gives the bearer of a token that is past half its life a fresh one, with any answer that is for it alone: one that
 * shared caches may not keep. The client library presents a token with requests that have a body alone, so no cache of a
 * browser brings an old one back. Changes nothing of an answer whose head is sent.
 */
export type RenewToken = (ctx: Context) => void;

export const createRenewToken =
  (accessTokens: AccessTokens, names: HeaderNames): RenewToken =>
  (ctx) => {
    const { caller } = ctx.state;
    if (!caller || ctx.headerSent || !isForOne(ctx.response.get("Cache-Control"))) return;
    const renewed = accessTokens.renew(caller.principal);
    if (renewed) ctx.set({ [names.authRenewed]: renewed.token, [names.authRenewedExp]: String(renewed.exp) });
  };

/** What sends its head by itself has to renew before. */
export const renewTokens =
  (renewToken: RenewToken): Middleware =>
  async (ctx, next) => {
    await next();
    renewToken(ctx);
  };

const isForOne = (cacheControl: string): boolean => /\b(no-store|private)\b/i.test(cacheControl);
