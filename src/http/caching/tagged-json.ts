import { hash } from "node:crypto";
import type { Context } from "koa";
import { noneMatchHits } from "./conditional.ts";
import { codedTag } from "./content-coding.ts";

/** A JSON document with its strong tag. */
export interface TaggedJson {
  readonly body: Buffer;
  readonly etag: string;
}

/** The tag comes from the text itself, so it is the same on every instance, and another when the text is. */
export const taggedJson = (document: object): TaggedJson => {
  const body = Buffer.from(JSON.stringify(document));
  return { body, etag: tagOf(body) };
};

export const tagOf = (content: Buffer | string): string => `"${hash("sha256", content, "base64url")}"`;

/** For the one who asks, and to be asked for again before it is used again. */
const lifetime = "private, no-cache";

/** What an answer depends on that is for one website alone. */
const credentials = ["X-API-Key", "X-API-Secret", "Authorization"];

/** 200 with the document, or 304 for a caller who has it already. */
export const replyTagged = (ctx: Context, { body, etag }: TaggedJson): void => {
  const selected = codedTag(ctx, etag, body.length);
  ctx.set({ ETag: selected, "Cache-Control": lifetime });
  ctx.vary(credentials);
  const isRead = ctx.method === "GET" || ctx.method === "HEAD";
  if (isRead && noneMatchHits(ctx.req.headers["if-none-match"], [selected])) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  ctx.type = "application/json";
  ctx.body = body;
};
