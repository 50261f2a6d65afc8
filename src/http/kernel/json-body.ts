import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { lazy } from "../../async/lazy.ts";
import { Invalid } from "../../domain/errors.ts";
import { PayloadTooLarge } from "./errors/error-codes.ts";

const maxBytes = 1024 * 1024;

/**
 * A body that is too large is read up to these bounds, so that the client reads the response before
 * it sees a reset.
 */
const drained = { bytes: 32 * 1024 * 1024, ms: 10_000 };

const jsonTypes = ["json", "+json"];

/**
 * Reads a JSON object or array of at most 1 MiB. An absent body is `{}` for POST, and an error for
 * PUT and PATCH.
 * @throws {Invalid} for any other body
 * @throws {PayloadTooLarge}
 */
export const readJsonBody = async (ctx: Context): Promise<object> => {
  requireNoCoding(ctx);
  // `is` returns null without a body, but treats `Content-Length: 0` as a body.
  if (ctx.request.length !== 0 && ctx.is(jsonTypes) === false) {
    throw invalid("The body must be sent as application/json.");
  }
  const { json } = await loadBodyParser();
  const body = observeBody(ctx.req);
  await json(ctx, async () => {});
  if (!body.isUtf8) throw invalid(unreadable);
  if (body.bytes === 0 && ctx.method !== "POST") throw invalid("A body is required.");
  return (ctx.request.body as object | undefined) ?? {};
};

/** True if the body is of the media type. False without a body. */
export const hasMediaType = (ctx: Context, mediaType: string): boolean => ctx.is(mediaType) === mediaType;

/**
 * Reads a text of at most 1 MiB in UTF-8.
 * @throws {Invalid}
 * @throws {PayloadTooLarge}
 */
export const readTextBody = async (ctx: Context, mediaType: string): Promise<string> => {
  requireNoCoding(ctx);
  const { textOf } = await loadBodyParser();
  const body = observeBody(ctx.req);
  await textOf(mediaType)(ctx, async () => {});
  if (!body.isUtf8) throw invalid("The body cannot be read: it must be in UTF-8.");
  return String(ctx.request.body ?? "");
};

const requireNoCoding = ({ req }: Context): void => {
  const { "content-encoding": coding = "identity" } = req.headers;
  if (coding.toLowerCase() !== "identity") {
    throw invalid("The body must be sent without a Content-Encoding.");
  }
};

const unreadable = "The body cannot be read: it must be a JSON object or array in UTF-8.";

/** koa-body's messages may quote the body, so they are replaced. */
const onError = (error: Error & { status?: number; code?: string }, { req }: Context): never => {
  if (error.code === "ECONNABORTED") throw error;
  if (error.status !== 413) throw invalid(unreadable);
  drainRest(req);
  throw new PayloadTooLarge();
};

const common = { urlencoded: false, multipart: false, onError };

/** koa-body loads 110 modules, which would delay the start. */
export const loadBodyParser = lazy(async () => {
  const { koaBody } = await import("koa-body");
  return {
    json: koaBody({ ...common, json: true, jsonTypes, jsonLimit: maxBytes, text: false }),
    textOf: (mediaType: string) =>
      koaBody({ ...common, json: false, text: true, textTypes: [mediaType], textLimit: maxBytes }),
  };
});

/**
 * Observes what koa-body does not report: it distinguishes neither an empty body from `{}` nor
 * malformed UTF-8 from replacement characters.
 */
const observeBody = (req: IncomingMessage): { readonly isUtf8: boolean; readonly bytes: number } => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const body = { isUtf8: true, bytes: 0 };
  const decode = (chunk?: Buffer): void => {
    body.bytes += chunk?.length ?? 0;
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      body.isUtf8 = false;
    }
  };
  req.on("data", decode);
  req.once("end", () => decode());
  return body;
};

const drainRest = (req: IncomingMessage): void => {
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > drained.bytes) req.destroy();
  });
  const timeout = setTimeout(() => req.destroy(), drained.ms).unref();
  req.once("close", () => clearTimeout(timeout));
  req.resume();
};

const invalid = (message: string): Invalid => new Invalid([{ path: [], message }]);
