import { z } from "zod";
import type {
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import { audioFormats, contentTypes } from "../../domain/synthesis/speech.ts";
import { idempotencyKey } from "../routes/synthesis/idempotency.ts";
import { acceptRanges, audioDuration, etag, requestId } from "./headers.ts";

/** What every answer that is a sound has in common. */

const bytes: ZodOpenApiContentObject = Object.fromEntries(
  audioFormats.map((format) => [contentTypes[format], {}]),
);

export const soundHeaders = { ...requestId, ...etag, ...acceptRanges, ...audioDuration };

/** An answer with audio in one of its formats. */
export const sound = (description: string, headers: z.ZodRawShape) => ({
  description,
  headers: z.object(headers),
  content: bytes,
});

/** The conditions under which a GET of a sound may be answered otherwise than with the whole. */
export const conditions = {
  "If-None-Match": z
    .string()
    .optional()
    .meta({ description: "Tags that the caller has; 304 if one of them is it, or `*`." }),
  Range: z
    .string()
    .optional()
    .meta({
      description: "A single byte range; others are answered with the whole.",
      examples: ["bytes=0-1023"],
    }),
  "If-Range": z.string().optional().meta({ description: "The tag that `Range` is meant for." }),
};

/** A request that is repeated is charged once. */
export const idempotency = {
  "Idempotency-Key": z
    .string()
    .regex(idempotencyKey)
    .optional()
    .meta({
      description:
        "A value of your own for this request. A repeat with the same value and the same parameters within 24 hours is charged once; with other parameters it is refused with 400.",
      examples: ["0d6f7f0e-2f35-4e0a-9a2f-6f1c6c1f6f11"],
    }),
};

/**
 * The same operation asked with HEAD: the same headers, no content, and never a part. HEAD makes no sound, so what
 * tells of its making (`ofMaking`) is there only for one that was made before.
 */
export const headOf = (
  get: ZodOpenApiOperationObject,
  operationId: string,
  ofMaking: z.ZodRawShape = {},
): ZodOpenApiOperationObject => ({
  ...get,
  operationId,
  summary: `${get.summary}: the headers alone`,
  responses: Object.fromEntries(
    Object.entries(get.responses as ZodOpenApiResponsesObject)
      .filter(([status]) => !withoutHead.has(status))
      .map(([status, { id: _, content: __, headers, ...response }]) => {
        const shape = (headers as z.ZodObject).shape;
        const optional = status === "200" ? z.object(ofMaking).partial().shape : {};
        return [status, { ...response, headers: z.object({ ...shape, ...optional }) }];
      }),
  ),
});

/** HEAD asks for no range and fails at no making; what cannot be read is refused before its method is known. */
const withoutHead = new Set(["206", "416", "431", "502"]);
