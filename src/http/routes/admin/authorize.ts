import { hash, timingSafeEqual } from "node:crypto";
import type { Middleware } from "koa";
import type { FailedAttempts } from "../../../application/access/failed-attempts.ts";
import { NotFound, Unauthorized } from "../../../domain/errors.ts";
import type { ClientAddress } from "../../kernel/client-address.ts";

export interface OperatorAccess {
  /** Without a token, every admin operation is a 404. */
  readonly adminToken: string | undefined;
  readonly failedAttempts: FailedAttempts;
  readonly clientOf: ClientAddress;
}

/**
 * Authenticates the operator: `Authorization: Bearer` with ADMIN_TOKEN.
 * @throws {NotFound} without ADMIN_TOKEN @throws {RateLimited} after too many failed attempts @throws {Unauthorized}
 */
export const operatorOnly = ({ adminToken, failedAttempts, clientOf }: OperatorAccess): Middleware => {
  const expected = adminToken === undefined ? undefined : digest(adminToken);
  return async (ctx, next) => {
    if (!expected) throw new NotFound("There is nothing under this address.");
    const client = clientOf(ctx.req);
    failedAttempts.throwIfThrottled(client);
    const { authorization } = ctx.req.headers;
    const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
    if (!timingSafeEqual(digest(token), expected)) {
      if (authorization !== undefined) failedAttempts.count(client);
      throw new Unauthorized("The admin token is missing or wrong.");
    }
    await next();
  };
};

/** Digests have the same length, so the constant-time comparison reveals nothing about the token. */
const digest = (token: string): Buffer => hash("sha256", token, "buffer");
