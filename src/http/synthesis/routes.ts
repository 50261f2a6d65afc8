import Router from "@koa/router";
import type { Context } from "koa";
import type { Synthesis } from "../../application/synthesis.ts";
import type { Gate } from "../gate.ts";
import { authenticated, jsonBody, leaving } from "../middleware.ts";
import { reply } from "../reply.ts";
import type { Answerer, Asked } from "./answer.ts";
import type { PreparedPlans } from "./prepared-plans.ts";
import { type RequestSchema, requestFromBody, requestFromQuery } from "./request.ts";

/** `GET` and `POST /v2/text/synthesize`. */
export const synthesisRoutes = ({
  gate,
  synthesis,
  answerer,
  schema,
  prepared,
}: {
  gate: Gate;
  synthesis: Synthesis;
  answerer: Answerer;
  schema: RequestSchema;
  prepared: PreparedPlans;
}): Router => {
  const router = new Router();

  router.get("/v2/text/synthesize", authenticated(gate), async (ctx) => {
    const plan = synthesis.plan(requestFromQuery(schema, ctx.querystring));
    const method = ctx.method === "HEAD" ? "HEAD" : "GET";
    reply(ctx, await answerer.answer(plan, asked(ctx, method)));
    prepared.keep(ctx.url, plan);
  });

  router.post("/v2/text/synthesize", authenticated(gate), jsonBody(), async (ctx) => {
    const plan = synthesis.plan(requestFromBody(schema, ctx.request.body));
    reply(ctx, await answerer.answer(plan, asked(ctx, "POST")));
  });

  return router;
};

/** What of the request an answer depends on. */
export const asked = (ctx: Context, method: Asked["method"]): Asked => ({
  method,
  principal: ctx.state.caller.principal,
  requestId: ctx.state.requestId,
  ifNoneMatch: ctx.req.headers["if-none-match"],
  range: ctx.req.headers.range,
  ifRange: ctx.req.headers["if-range"] as string | undefined,
  signal: leaving(ctx),
});
