import type { Context } from "koa";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Streaming, Synthesis } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan, SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { parse } from "../../../domain/validation.ts";
import type { UnreadAudio } from "../../../limits/unread-audio.ts";
import { conditionalRange } from "../../kernel/audio-response.ts";
import type { ErrorStatus } from "../../kernel/errors/error-codes.ts";
import { cached, etag, type HeaderNames } from "../../kernel/headers.ts";
import { jsonRequest, type Operation, operation, type RequestPart } from "../../kernel/operation.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import { respond } from "../../kernel/respond.ts";
import { createMemoryResponses } from "./from-memory.ts";
import { deprecationHeaders, legacyRequest, requestFromLegacyQuery } from "./legacy.ts";
import type { SynthesisCall, SynthesisPresenter } from "./presenter.ts";
import {
  marked,
  marksInQuery,
  nullableInQuery,
  type RequestSchema,
  requestFromBody,
  requestFromQuery,
  streamed,
  streamRequested,
} from "./request.ts";
import { idempotencyHeader, requestContextOf } from "./request-context.ts";
import { responsesToGet, responsesToPost } from "./responses.ts";
import { type HttpStreamKind, type StreamResponse, streamBodies } from "./stream.ts";

const headers = { ...conditionalRange, ...idempotencyHeader };
const errorsOfGet: readonly ErrorStatus[] = [400, 404, 416, 431, 502, 503];

interface SynthesisOptions {
  readonly synthesis: Synthesis;
  readonly presenter: SynthesisPresenter;
  readonly streaming: Pick<Streaming, "requireProvider">;
  readonly streamResponse: StreamResponse;
  readonly schema: RequestSchema;
  readonly names: HeaderNames;
  readonly unread: UnreadAudio;
  readonly log: Logger;
  readonly settings: { readonly publicUrl: string | undefined };
}

/** `/v2/text/synthesize`, and `/v1/text:synthesize`. */
export const synthesisOperations = (options: SynthesisOptions): Operation[] => [
  synthesize(options),
  synthesizeByPost(options),
  synthesizeLegacy(options),
];

const synthesize = (options: SynthesisOptions): Operation => {
  const memory = createMemoryResponses(options);
  return operation({
    method: "get",
    path: "/v2/text/synthesize",
    id: "synthesize",
    tag: "Synthesis",
    summary: "Synthesize a text",
    description:
      "The same parameters always give the same audio. `pitch=` and `pitch=null` count as absent. Unknown parameters are ignored.",
    auth: "website",
    headers,
    query: requestQuery(options.schema.safeExtend(marked.shape), (query) => ({
      request: requestFromQuery(options.schema, query),
      marks: marksInQuery(query),
    })),
    responses: responsesToGet(options.names),
    errors: errorsOfGet,
    head: { id: "synthesizeHead", optional: { ...cached(options.names), ...etag } },
    fromMemory: memory.respond,
    handle: async ({ query: { request, marks } }, ctx) => {
      const plan = await presentGet(options, ctx, request, marks);
      if (plan.shared && !marks) memory.prepare(ctx.url, plan);
    },
  });
};

const synthesizeByPost = (options: SynthesisOptions): Operation =>
  operation({
    method: "post",
    path: "/v2/text/synthesize",
    id: "synthesizeByPost",
    tag: "Synthesis",
    summary: "Synthesize a text that is too long or too private for a URL",
    description:
      "`Accept: text/event-stream` requests a stream: as server-sent events if the body has `stream: true`, else as the bytes of the audio, in which case an error resets the connection. Only engines on the website's own credentials stream; any other voice is a 404.",
    auth: "website",
    headers: idempotencyHeader,
    body: jsonRequest(
      options.schema.and(streamed).and(marked),
      { voice: "UK English Female", text: "The train to Oxford leaves at nine.", rate: 1.2 },
      {
        read: (body) => ({
          stream: streamRequested(body),
          marks: parse(marked, body).marks !== undefined,
          request: requestFromBody(options.schema, body),
        }),
      },
    ),
    responses: responsesToPost(options.names),
    errors: [404, 502, 503],
    handle: async ({ body: { stream, marks, request } }, ctx) => {
      const kind: HttpStreamKind | undefined = stream ? "sse" : acceptsEvents(ctx) ? "audio" : undefined;
      const plan = options.synthesis.plan(request, websiteOf(ctx));
      if (kind) options.streaming.requireProvider(plan);
      const call = { ...callOf(options.synthesis, ctx, "POST", request), marks };
      if (kind && !plan.muted) await options.streamResponse(ctx, plan, { ...call, body: streamBodies[kind] });
      else respond(ctx, await options.presenter.present(plan, call));
    },
  });

const synthesizeLegacy = (options: SynthesisOptions): Operation => {
  const schema = legacyRequest(options.schema);
  return operation({
    method: "get",
    path: "/v1/text:synthesize",
    id: "synthesizeLegacy",
    tag: "Legacy",
    deprecated: deprecationHeaders(options.settings.publicUrl),
    summary: "Synthesize a text with the parameters of v1",
    description: "The audio, limits and errors are those of v2. `voice` and `format` do not exist.",
    auth: "website",
    headers,
    query: requestQuery(schema, (query) => requestFromLegacyQuery(schema, query)),
    responses: responsesToGet(options.names),
    errors: errorsOfGet,
    head: { id: "synthesizeLegacyHead", optional: { ...cached(options.names), ...etag } },
    handle: async ({ query }, ctx) => void (await presentGet(options, ctx, query)),
  });
};

const requestQuery = <T>(
  schema: z.ZodObject,
  read: (querystring: string) => T,
): RequestPart<T, z.ZodObject> => ({
  schema: nullableInQuery(schema),
  read: ({ querystring }) => read(querystring),
});

/** Responds to GET or HEAD. Returns the plan. */
const presentGet = async (
  { synthesis, presenter }: SynthesisOptions,
  ctx: Context,
  request: SynthesisRequest,
  marks = false,
): Promise<SynthesisPlan> => {
  const plan = synthesis.plan(request, websiteOf(ctx));
  const method = ctx.method === "HEAD" ? "HEAD" : "GET";
  respond(ctx, await presenter.present(plan, { ...callOf(synthesis, ctx, method, request), marks }));
  return plan;
};

/** True if a stream is requested by its media type; wildcards do not count. */
const acceptsEvents = ({ req }: Context): boolean => /\btext\/event-stream\b/i.test(req.headers.accept ?? "");

/** @throws {Invalid} for a malformed Idempotency-Key */
const callOf = (
  synthesis: Synthesis,
  ctx: Context,
  method: SynthesisCall["method"],
  request: SynthesisRequest,
): SynthesisCall => {
  const { headers } = ctx.req;
  return {
    ...requestContextOf(ctx, request, synthesis),
    method,
    ifNoneMatch: headers["if-none-match"],
    range: headers.range,
    ifRange: headers["if-range"] as string | undefined,
  };
};
