import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import { resetCloseDelimited } from "./close-delimited.ts";

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
