import type { Middleware } from "koa";

/** Reports the code of each error that is sent to a caller of the API; its status if it has no code. */
export const countRefusals =
  (refused: (code: string) => void): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.status < 400 || ctx.path.startsWith("/admin")) return;
    const { code } = Object(Object(ctx.body).error);
    refused(typeof code === "string" ? code : String(ctx.status));
  };
