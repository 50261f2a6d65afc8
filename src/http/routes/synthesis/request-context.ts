import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "koa";
import { z } from "zod";
import type { RequestContext } from "../../../application/synthesis/delivery.ts";
import type { IdempotencyDigests } from "../../../application/synthesis/idempotency-digests.ts";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { Invalid } from "../../../domain/errors.ts";
import { disconnectSignal, onResponseEnd } from "../../kernel/middleware.ts";
import { callerIn } from "../../kernel/request-state.ts";

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

/**
 * Returns undefined without a key.
 * @throws {Invalid} for a key that is empty, too long, or not printable ASCII
 */
const idempotencyKeyOf = ({ "idempotency-key": given }: IncomingHttpHeaders): string | undefined => {
  if (given === undefined) return undefined;
  if (typeof given !== "string" || !idempotencyKey.test(given)) throw malformed;
  return given;
};

const malformed = new Invalid([
  { path: ["Idempotency-Key"], message: "must be 1 to 255 printable ASCII characters." },
]);

/**
 * Collects what the delivery of a synthesis needs to know about its HTTP request. Its `signal`
 * aborts when the client disconnects. The method does not count for an Idempotency-Key: a GET
 * repeats a POST with the same parameters.
 * @throws {Invalid} for a malformed Idempotency-Key
 */
export const requestContextOf = (
  ctx: Context,
  request: SynthesisRequest,
  { idempotencyOf }: IdempotencyDigests,
): RequestContext & { readonly signal: AbortSignal } => {
  const { principal } = callerIn(ctx.state);
  const key = idempotencyKeyOf(ctx.req.headers);
  return {
    principal,
    requestId: ctx.state.requestId,
    idempotency: key === undefined ? undefined : idempotencyOf(principal.apiKey, key, request),
    signal: disconnectSignal(ctx),
    onSent: (callback) => onResponseEnd(ctx.res, callback),
  };
};
