import { hash, timingSafeEqual } from "node:crypto";
import type { Middleware } from "koa";
import { NotFound, Unauthorized } from "../../domain/errors.ts";

/**
 * Lets the operator in: `Authorization: Bearer` with ADMIN_TOKEN. Without a token set there is no admin API.
 * @throws {Unauthorized} @throws {NotFound}
 */
export const operatorOnly = (adminToken: string | undefined): Middleware => {
  const expected = adminToken === undefined ? undefined : digest(adminToken);
  return async (ctx, next) => {
    if (!expected) throw new NotFound("There is nothing under this address.");
    const [, token = ""] = /^Bearer +(\S+)$/i.exec(ctx.get("Authorization")) ?? [];
    if (!timingSafeEqual(digest(token), expected))
      throw new Unauthorized("The admin token is missing or wrong.");
    await next();
  };
};

/** Digests are of one length, whatever was presented: comparing them tells nothing of the token. */
const digest = (token: string): Buffer => hash("sha256", token, "buffer");
