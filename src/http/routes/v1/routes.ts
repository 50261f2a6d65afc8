import Router from "@koa/router";
import type { Synthesis } from "../../../application/synthesis/synthesis.ts";
import type { Gate } from "../../access/gate.ts";
import { authenticated, websiteOf } from "../../kernel/middleware.ts";
import { reply } from "../../kernel/reply.ts";
import type { Answerer } from "../synthesis/answer.ts";
import type { RequestSchema } from "../synthesis/request.ts";
import { asked } from "../synthesis/routes.ts";
import { legacyRequest, requestFromLegacyQuery } from "./request.ts";

/** Escaped, because a bare colon begins a parameter; and as some clients write it. */
const paths = ["/v1/text\\:synthesize", "/v1/text%3Asynthesize"];

/** `GET /v1/text:synthesize`: the same sounds and the same limits as v2's, under v1's words. */
export const legacyRoutes = ({
  gate,
  synthesis,
  answerer,
  schema,
}: {
  gate: Gate;
  synthesis: Synthesis;
  answerer: Answerer;
  /** v2's, which v1's is made from. */
  schema: RequestSchema;
}): Router => {
  const request = legacyRequest(schema);
  const router = new Router();
  router.get(paths, authenticated(gate), async (ctx) => {
    const wanted = requestFromLegacyQuery(request, ctx.querystring);
    const plan = synthesis.plan(wanted, websiteOf(ctx));
    reply(ctx, await answerer.answer(plan, asked(ctx, ctx.method === "HEAD" ? "HEAD" : "GET", wanted)));
  });
  return router;
};
