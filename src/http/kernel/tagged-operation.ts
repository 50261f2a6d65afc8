import type { z } from "zod";
import { revalidatePrivately } from "../caching/cache-control.ts";
import { etag, ifNoneMatch, vary } from "./headers.ts";
import { json, type ResponseSpec } from "./operation.ts";

/** What operations declare that answer with `replyTagged`. */
export const taggedOperation = { cache: [revalidatePrivately], headers: ifNoneMatch } as const;

export const taggedResponses = (schema: z.ZodType): Readonly<Record<200 | 304, ResponseSpec>> => ({
  200: { description: "The current state.", headers: { ...etag, ...vary }, content: json(schema) },
  304: { description: "The caller has the current state.", headers: { ...etag, ...vary } },
});
