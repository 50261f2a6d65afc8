import Router from "@koa/router";
import type { AccessTokens } from "../../../application/access/access-tokens.ts";
import type { FailedAttempts } from "../../../application/access/failed-attempts.ts";
import type { OriginVerification } from "../../../application/access/origin-verification.ts";
import { Unauthorized } from "../../../domain/errors.ts";
import { bearerOf } from "../../access/credentials.ts";
import type { Gate } from "../../access/gate.ts";
import type { ClientAddress } from "../../kernel/client-address.ts";
import { authenticated } from "../../kernel/middleware.ts";

/** `POST /v2/auth/refresh` and `POST /v2/auth/verify-origin`. Neither reads a body. */
export const authRoutes = ({
  gate,
  accessTokens,
  originVerification,
  failedAttempts,
  clientOf,
}: {
  gate: Gate;
  accessTokens: AccessTokens;
  originVerification: OriginVerification;
  failedAttempts: FailedAttempts;
  clientOf: ClientAddress;
}): Router => {
  const router = new Router({ prefix: "/v2/auth" });

  router.post("/refresh", authenticated(gate), (ctx) => {
    ctx.set("Cache-Control", "no-store");
    ctx.body = accessTokens.issue(ctx.state.caller.principal);
  });

  router.post("/verify-origin", async (ctx) => {
    const client = clientOf(ctx.req);
    failedAttempts.throwIfThrottled(client);
    const { authorization, origin } = ctx.req.headers;
    const presented = { token: bearerOf(authorization ?? ""), origin: origin ?? "" };
    const outcome = await originVerification.verify(presented, ctx.state.requestId).catch((error) => {
      if (error instanceof Unauthorized && authorization !== undefined) failedAttempts.count(client);
      throw error;
    });
    ctx.set("Cache-Control", "no-store");
    ctx.body = outcome;
  });

  return router;
};
