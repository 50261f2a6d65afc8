import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { HttpResponse } from "./audio-response.ts";
import { resetCloseDelimited } from "./close-delimited.ts";
import { ownEnvelope } from "./errors/error-envelope.ts";

/** Sends a response through Koa. `Link` is added to links that are already set. */
export const respond = (ctx: Context, { status, headers, body }: HttpResponse): void => {
  const { Link: link, ...others } = headers;
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set(others);
  if (link !== undefined) ctx.append("Link", link);
};

/**
 * Sends a text while it is produced. An error before its first part still gets its own status.
 * After a later error the last chunk is missing, or the connection of a response without chunks is
 * reset.
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
export const respondWithError = (ctx: Context, error: unknown): void => {
  const { errors = ownEnvelope } = ctx.state.route.api ?? {};
  const { status, headers, body } = errors.present(error);
  ctx.status = status;
  ctx.body = body;
  ctx.set(headers);
};

/**
 * Sends the body of a response whose status and headers are set. A chunk is read only when the
 * client has taken the previous one. An error ends the connection, so that a truncated body never
 * looks complete.
 */
export const sendChunks = async (
  ctx: Context,
  chunks: AsyncIterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> => {
  ctx.respond = false; // Koa's pipe reads ahead and delays the first byte by half a millisecond.
  try {
    for await (const chunk of chunks) {
      if (!ctx.res.write(chunk)) await once(ctx.res, "drain", { signal });
    }
    ctx.res.end();
  } catch (error) {
    abortResponse(ctx.res);
    if (!signal.aborted) ctx.app.emit("error", error, ctx);
  }
};

/** Omits the last chunk, without which the response is incomplete. */
const abortResponse = (res: ServerResponse): void => {
  if (!resetCloseDelimited(res)) res.socket?.destroySoon();
};
