import type { IncomingMessage } from "node:http";
import type { Context, Middleware } from "koa";
import { koaBody } from "koa-body";
import { Invalid } from "../../domain/errors.ts";
import { PayloadTooLarge } from "./errors.ts";

const maxBytes = 1024 * 1024;

/** What of a body that is too large is still read, so that its sender comes to read the answer. */
const discarded = { bytes: 32 * 1024 * 1024, ms: 10_000 };

/** The methods whose body means something. What comes with any other is left alone, whatever it is. */
const withBody = new Set(["POST", "PUT", "PATCH"]);

const jsonTypes = ["json", "+json"];

/**
 * Reads a JSON object or array of at most 1 MiB into `ctx.request.body`. An absent body is `{}` for POST, and an error for
 * PUT and PATCH, which would replace or change nothing.
 * @throws {Invalid} for any other kind of body @throws {PayloadTooLarge}
 */
export const jsonBody = (): Middleware => {
  const read = koaBody({
    json: true,
    jsonTypes,
    jsonLimit: maxBytes,
    text: false,
    urlencoded: false,
    multipart: false,
    onError: refuse,
  });
  return async (ctx, next) => {
    if (!withBody.has(ctx.method)) return await next();
    const { "content-encoding": coding = "identity" } = ctx.req.headers;
    if (coding.toLowerCase() !== "identity")
      throw refused("The body must be sent without a Content-Encoding.");
    // `is` answers null when there is no body at all, but takes `Content-Length: 0` for one.
    const isThere = ctx.request.length !== 0 && ctx.is(jsonTypes) !== null;
    if (isThere && ctx.is(jsonTypes) === false) throw refused("The body must be sent as application/json.");
    const seen = watch(ctx.req);
    await read(ctx, async () => {
      if (!seen.isUtf8) throw refused(unreadable);
      if (seen.bytes === 0 && ctx.method !== "POST") throw refused("A body is required.");
      ctx.request.body ??= {};
      await next();
    });
  };
};

const unreadable = "The body cannot be read: it must be well-formed JSON in UTF-8.";

/** koa-body's own words may echo the body: they stay inside. */
const refuse = (error: Error, { req }: Context): never => {
  if (!("status" in error) || error.status !== 413) throw refused(unreadable);
  discardRest(req);
  throw new PayloadTooLarge();
};

const discardRest = (req: IncomingMessage): void => {
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > discarded.bytes) req.destroy();
  });
  const late = setTimeout(() => req.destroy(), discarded.ms).unref();
  req.once("close", () => clearTimeout(late));
  req.resume();
};

/** Looks on as the body is read: koa-body tells neither an empty one from `{}` nor bytes that are no UTF-8. */
const watch = (req: IncomingMessage): { readonly isUtf8: boolean; readonly bytes: number } => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const seen = { isUtf8: true, bytes: 0 };
  const look = (chunk?: Buffer): void => {
    seen.bytes += chunk?.length ?? 0;
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      seen.isUtf8 = false;
    }
  };
  req.on("data", look);
  req.once("end", () => look());
  return seen;
};

const refused = (message: string): Invalid => new Invalid([{ path: [], message }]);
