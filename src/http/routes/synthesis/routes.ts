import Router from "@koa/router";
import type { Context } from "koa";
import type { Streaming } from "../../../application/synthesis/streaming.ts";
import type { Synthesis, SynthesisRequest } from "../../../application/synthesis/synthesis.ts";
import type { Gate } from "../../access/gate.ts";
import { jsonBody } from "../../kernel/json-body.ts";
import { authenticated, leaving, websiteOf } from "../../kernel/middleware.ts";
import { reply } from "../../kernel/reply.ts";
import type { Answerer, Asked } from "./answer.ts";
import { idempotencyOf } from "./idempotency.ts";
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
    const request = requestFromQuery(schema, ctx.querystring);
    const plan = synthesis.plan(request, websiteOf(ctx));
    const method = ctx.method === "HEAD" ? "HEAD" : "GET";
    reply(ctx, await answerer.answer(plan, asked(ctx, method, request)));
    if (plan.shared) prepared.keep(ctx.url, plan);
  });

  router.post("/v2/text/synthesize", authenticated(gate), jsonBody(), async (ctx) => {
    const kind = streamAsked(ctx);
    const request = requestFromBody(schema, ctx.request.body);
    const plan = synthesis.plan(request, websiteOf(ctx));
    if (kind) streaming.requireProvider(plan);
    const order = asked(ctx, "POST", request);
    if (kind && !plan.silent) await streamAnswer(ctx, plan, { ...order, kind });
    else reply(ctx, await answerer.answer(plan, order));
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

/** What of the request an answer depends on. @throws {Invalid} for a malformed Idempotency-Key */
export const asked = (ctx: Context, method: Asked["method"], request: SynthesisRequest): Asked => {
  const { principal } = ctx.state.caller;
  const { headers } = ctx.req;
  return {
    method,
    principal,
    requestId: ctx.state.requestId,
    idempotency: idempotencyOf(headers, principal.apiKey, request),
    ifNoneMatch: headers["if-none-match"],
    range: headers.range,
    ifRange: headers["if-range"] as string | undefined,
    signal: leaving(ctx),
  };
};
