import Router from "@koa/router";
import type { AccessTokens } from "../../../application/access/access-tokens.ts";
import type { Websites } from "../../../application/accounts/websites.ts";
import type { Gate } from "../../access/gate.ts";
import { authenticated } from "../../kernel/middleware.ts";

/**
 * `GET /v2/config`: the website's whole configuration, and a token for the requests that follow. Suspended keys may
 * read it. Nothing may store it: a page that got a stored answer would start with an expired token.
 */
export const configRoutes = ({
  gate,
  websites,
  accessTokens,
}: {
  gate: Gate;
  websites: Pick<Websites, "get">;
  accessTokens: Pick<AccessTokens, "issue">;
}): Router => {
  const router = new Router();
  router.get("/v2/config", authenticated(gate, { suspended: "allowed" }), (ctx) => {
    const { principal } = ctx.state.caller;
    const { config } = websites.get(principal.websiteId);
    ctx.set("Cache-Control", "no-store");
    ctx.body = { ...config, auth: accessTokens.issue(principal) };
  });
  return router;
};
