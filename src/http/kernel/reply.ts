import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import type { HttpResponse } from "./audio-body.ts";
import { type PresentedError, presentError } from "./errors.ts";

/** Sends a response through Koa. */
export const reply = (ctx: Context, { status, headers, body }: HttpResponse): void => {
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set(headers);
};

/** Sends an error through Koa. */
export const replyError = (ctx: Context, error: unknown): PresentedError => {
  const presented = presentError(error);
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

/** Sends an error without Koa. */
export const sendError = (
  res: ServerResponse,
  error: unknown,
  headers: Record<string, string>,
): PresentedError => {
  const presented = presentError(error);
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
