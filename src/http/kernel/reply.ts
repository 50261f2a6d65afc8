import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import type { Answer } from "./audio-body.ts";
import { type ErrorAnswer, presentError } from "./errors.ts";

/** Sends a response through Koa. */
export const reply = (ctx: Context, { status, headers, body }: Answer): void => {
  ctx.status = status;
  if (body) ctx.body = body;
  ctx.set(headers);
};

/** Sends an error through Koa. */
export const replyError = (ctx: Context, error: unknown): ErrorAnswer => {
  const answer = presentError(error);
  ctx.status = answer.status;
  ctx.body = answer.body;
  ctx.set(answer.headers);
  return answer;
};

/** Sends a response without Koa. */
export const send = (res: ServerResponse, { status, headers, body }: Answer): void => {
  res.writeHead(status, headers);
  res.end(body);
};

/** Sends an error without Koa. */
export const sendError = (
  res: ServerResponse,
  error: unknown,
  headers: Record<string, string>,
): ErrorAnswer => {
  const answer = presentError(error);
  const body = Buffer.from(JSON.stringify(answer.body));
  send(res, {
    status: answer.status,
    headers: { ...headers, ...answer.headers, ...jsonHeaders(body) },
    body,
  });
  return answer;
};

const jsonHeaders = (body: Buffer): Record<string, string> => ({
  "Content-Type": "application/json; charset=utf-8",
  "Content-Length": String(body.length),
});
