import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { HttpResponse } from "./audio-response.ts";
import { resetCloseDelimited } from "./close-delimited.ts";
import { envelopeOf } from "./errors/envelope-of.ts";
import type { EnvelopedError } from "./errors/error-envelope.ts";

/** Sends a response through Koa. `Link` is added to links that are already set. */
export const respond = (ctx: Context, { status, headers, body }: HttpResponse): void => {
  const { Link: link, ...others } = headers;
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set(others);
  if (link !== undefined) ctx.append("Link", link);
};

/**
 * Sends a text while it is produced. An error before its first part still gets its own status. A later one omits the last chunk,
 * or resets the connection of a response without chunks.
 */
export const respondWithText = async (
  ctx: Context,
  parts: AsyncIterable<string>,
  type: string,
): Promise<void> => {
  const text = Readable.from(parts);
  await once(text, "readable");
  text.once("error", () => resetCloseDelimited(ctx.res)); // before Koa, which destroys the connection
  ctx.body = text;
  ctx.set("Content-Type", type);
};

/** Sends an error through Koa, in the envelope of the path. */
export const respondWithError = (ctx: Context, error: unknown): EnvelopedError => {
  const presented = envelopeOf(ctx.path).present(error);
  ctx.status = presented.status;
  ctx.body = presented.body;
  ctx.set(presented.headers);
  return presented;
};

/** Sends a response without Koa. */
export const send = (res: ServerResponse, { status, headers, body }: HttpResponse): void => {
  res.writeHead(status, headers);
  res.end(body);
};

/** Sends an error without Koa, in the envelope of the path. */
export const sendError = (
  res: ServerResponse,
  error: unknown,
  headers: Record<string, string>,
): EnvelopedError => {
  const presented = envelopeOf(res.req.url ?? "").present(error);
  const body = Buffer.from(JSON.stringify(presented.body));
  send(res, {
    status: presented.status,
    headers: { ...headers, ...presented.headers, ...jsonHeaders(body) },
    body,
  });
  return presented;
};

const jsonHeaders = (body: Buffer): Record<string, string> => ({
  "Content-Type": "application/json; charset=utf-8",
  "Content-Length": String(body.length),
});
