import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "koa";
import { z } from "zod";
import type { RequestContext } from "../../../application/synthesis/delivery.ts";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { Invalid } from "../../../domain/errors.ts";
import type { Idempotency } from "../../../domain/ledger/serving.ts";
import { disconnectSignal, onResponseEnd } from "../../kernel/middleware.ts";

/** 1 to 255 printable ASCII characters. */
const idempotencyKey = /^[\x20-\x7e]{1,255}$/;

export const idempotencyHeader = {
  "Idempotency-Key": z
    .string()
    .regex(idempotencyKey)
    .optional()
    .meta({
      description:
        "A unique value of the caller's. A repeat with the same value and parameters within 24 hours is charged once; with other parameters it is refused with 400.",
      examples: ["0d6f7f0e-2f35-4e0a-9a2f-6f1c6c1f6f11"],
    }),
};

/** In characters of base64url: 132 bits make collisions negligible. */
const digestLength = 22;

/**
 * The digests of the Idempotency-Key and of the parameters; undefined without a key. The method does not count: a GET
 * repeats a POST with the same parameters.
 * @throws {Invalid} for a key that is empty, too long, or not printable ASCII
 */
const idempotencyOf = (
  { "idempotency-key": given }: IncomingHttpHeaders,
  apiKey: string,
  { text, voice, lang, engine, name, gender, prosody, format, lexicons, instructions }: SynthesisRequest,
): Idempotency | undefined => {
  if (given === undefined) return undefined;
  if (typeof given !== "string" || !idempotencyKey.test(given)) throw malformed;
  const { pitch, rate, volume } = prosody;
  const more = instructions ? [instructions] : [];
  const chosen = lexicons?.map(({ name, version }) => [name, version]);
  const digest = (content: string): string =>
    createHmac("sha256", apiKey).update(content).digest("base64url").slice(0, digestLength);
  return {
    key: digest(given),
    request: digest(
      JSON.stringify([text, voice, lang, engine, name, gender, pitch, rate, volume, format, chosen, ...more]),
    ),
  };
};

const malformed = new Invalid([
  { path: ["Idempotency-Key"], message: "must be 1 to 255 printable ASCII characters." },
]);

/**
 * What the delivery of a synthesis needs to know about its HTTP request; `signal` aborts when the client disconnects.
 * @throws {Invalid} for a malformed Idempotency-Key
 */
export const requestContextOf = (
  ctx: Context,
  request: SynthesisRequest,
): RequestContext & { readonly signal: AbortSignal } => {
  const { principal } = ctx.state.caller;
  return {
    principal,
    requestId: ctx.state.requestId,
    idempotency: idempotencyOf(ctx.req.headers, principal.apiKey, request),
    signal: disconnectSignal(ctx),
    onAnswered: (callback) => onResponseEnd(ctx.res, callback),
  };
};
