import Router from "@koa/router";
import type { AccessTokens } from "../../application/access-tokens.ts";
import type { Websites } from "../../application/websites.ts";
import type { Gate } from "../gate.ts";
import { authenticated } from "../middleware.ts";
import { replyTagged, taggedJson } from "../tagged-json.ts";

/**
 * `GET /v2/config`: the website's whole configuration, and a token for the requests that follow. Suspended keys may
 * read it. The tag is the configuration's alone, else no answer would ever be the same: who is answered 304 gets no
 * token with it and asks for one at `POST /v2/auth/refresh`.
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
    const { etag } = taggedJson(config);
    const body = Buffer.from(JSON.stringify({ ...config, auth: accessTokens.issue(principal) }));
    replyTagged(ctx, { body, etag });
  });
  return router;
};
