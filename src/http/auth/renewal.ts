import type { Context, Middleware } from "koa";
import type { AccessTokens } from "../../application/access-tokens.ts";
import type { HeaderNames } from "../header-names.ts";

/**
 * Gives the bearer of a token that is past half its life a fresh one, with any answer that is for it alone: one that
 * shared caches may not keep. A browser may still bring an old answer back, so a client takes a token only if it
 * expires later than the one that it has. Changes nothing of an answer whose head is gone.
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
