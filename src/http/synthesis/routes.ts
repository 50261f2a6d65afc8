import Router from "@koa/router";
import type { Context } from "koa";
import type { Synthesis } from "../../application/synthesis.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Gate } from "../gate.ts";
import { jsonBody } from "../json-body.ts";
import { authenticated, leaving } from "../middleware.ts";
import { reply } from "../reply.ts";
import type { Answerer, Asked } from "./answer.ts";
import type { PreparedPlans } from "./prepared-plans.ts";
import { asksForStream, type RequestSchema, requestFromBody, requestFromQuery } from "./request.ts";

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
    const streamed = acceptsEvents(ctx) || asksForStream(ctx.request.body);
    const plan = synthesis.plan(requestFromBody(schema, ctx.request.body));
    if (streamed) {
      const { engine } = plan.takes[0].recipe;
      throw new NotFound(`There is no streaming provider for the engine ${engine}.`);
    }
    reply(ctx, await answerer.answer(plan, asked(ctx, "POST")));
  });

  return router;
};

/** Whether a stream is asked for by its name; `*` and `text/*` ask for nothing in particular. */
const acceptsEvents = ({ req }: Context): boolean => /\btext\/event-stream\b/i.test(req.headers.accept ?? "");

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
