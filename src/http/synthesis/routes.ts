import Router from "@koa/router";
import type { Context } from "koa";
import type { Streaming } from "../../application/streaming.ts";
import type { Synthesis } from "../../application/synthesis.ts";
import type { Gate } from "../gate.ts";
import { jsonBody } from "../json-body.ts";
import { authenticated, leaving, websiteOf } from "../middleware.ts";
import { reply } from "../reply.ts";
import type { Answerer, Asked } from "./answer.ts";
import type { PreparedPlans } from "./prepared-plans.ts";
import { asksForStream, type RequestSchema, requestFromBody, requestFromQuery } from "./request.ts";
import type { HttpStreamKind, StreamAnswer } from "./stream.ts";

/** `GET` and `POST /v2/text/synthesize`. */
export const synthesisRoutes = ({
  gate,
  synthesis,
  answerer,
  streaming,
  streamAnswer,
  schema,
  prepared,
}: {
  gate: Gate;
  synthesis: Synthesis;
  answerer: Answerer;
  streaming: Pick<Streaming, "requireProvider">;
  streamAnswer: StreamAnswer;
  schema: RequestSchema;
  prepared: PreparedPlans;
}): Router => {
  const router = new Router();

  router.get("/v2/text/synthesize", authenticated(gate), async (ctx) => {
    const plan = synthesis.plan(requestFromQuery(schema, ctx.querystring), websiteOf(ctx));
    const method = ctx.method === "HEAD" ? "HEAD" : "GET";
    reply(ctx, await answerer.answer(plan, asked(ctx, method)));
    if (plan.shared) prepared.keep(ctx.url, plan);
  });

  router.post("/v2/text/synthesize", authenticated(gate), jsonBody(), async (ctx) => {
    const kind = streamAsked(ctx);
    const plan = synthesis.plan(requestFromBody(schema, ctx.request.body), websiteOf(ctx));
    if (kind) streaming.requireProvider(plan);
    if (kind && !plan.silent) await streamAnswer(ctx, plan, kind);
    else reply(ctx, await answerer.answer(plan, asked(ctx, "POST")));
  });

  return router;
};

/** A body that asks for a stream gets events; a header that does, and a body that does not, the audio itself. */
const streamAsked = (ctx: Context): HttpStreamKind | undefined => {
  if (asksForStream(ctx.request.body)) return "sse";
  return acceptsEvents(ctx) ? "audio" : undefined;
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
