import { hash } from "node:crypto";
import type { Context } from "koa";
import type { z } from "zod";
import { revalidatePrivately } from "../caching/cache-control.ts";
import { noneMatchHits } from "../caching/conditional.ts";
import { codedTag } from "../caching/content-coding.ts";
import { etag, ifNoneMatch, vary } from "./headers.ts";
import { json, type ResponseSpec } from "./operation.ts";

/** A document or file with its strong entity tag. */
export interface TaggedContent {
  readonly body: Buffer;
  readonly etag: string;
}

/** The tag is a digest of the bytes, so it is the same on every instance. */
export const taggedContent = (body: Buffer): TaggedContent => ({ body, etag: tagOf(body) });

export const taggedJson = (document: object): TaggedContent =>
  taggedContent(Buffer.from(JSON.stringify(document)));

export const tagOf = (content: Buffer | string): string => `"${hash("sha256", content, "base64url")}"`;

/** Responds with 200 and the content, or with 304 if the caller has it. */
export const respondTagged = (
  ctx: Context,
  { body, etag }: TaggedContent,
  type = "application/json; charset=utf-8",
): void => {
  const selected = codedTag(ctx, etag, body.length);
  ctx.set("ETag", selected);
  const isRead = ctx.method === "GET" || ctx.method === "HEAD";
  if (isRead && noneMatchHits(ctx.req.headers["if-none-match"], [selected])) {
    ctx.status = 304;
    return;
  }
  ctx.set("Content-Type", type);
  ctx.body = body;
};

/** The members that are common to operations whose response is a website's own document. */
export const taggedOperation = { cache: [revalidatePrivately], headers: ifNoneMatch } as const;

export const taggedResponses = (schema: z.ZodType): Readonly<Record<200 | 304, ResponseSpec>> => ({
  200: { description: "The current state.", headers: { ...etag, ...vary }, content: json(schema) },
  304: { description: "The caller has the current state.", headers: { ...etag, ...vary } },
});
