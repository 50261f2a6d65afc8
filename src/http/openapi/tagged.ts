import { z } from "zod";
import type { Described } from "./described.ts";
import { caching, etag, limits, renewal, requestId, vary } from "./headers.ts";

/** What a GET of a document under a strong tag takes. */
export const conditional = z.object({
  "If-None-Match": z
    .string()
    .optional()
    .meta({ description: "Tags that the caller has; 304 if one of them is it, or `*`." }),
});

/** 200 with a document under a strong tag, or 304. */
export const taggedAnswers = ({ names }: Described, schema: z.ZodType) => {
  const headers = {
    ...requestId,
    ...limits,
    ...caching("private, no-cache"),
    ...etag,
    ...vary,
    ...renewal(names),
  };
  return {
    "200": {
      description: "As it is now.",
      headers: z.object(headers),
      content: { "application/json": { schema } },
    },
    "304": { description: "The caller has it already.", headers: z.object(headers) },
  };
};
