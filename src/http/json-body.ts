import type { IncomingMessage } from "node:http";
import type { Middleware } from "koa";
import { Invalid } from "../domain/errors.ts";
import { PayloadTooLarge } from "./errors.ts";

declare module "koa" {
  interface Request {
    /** What `jsonBody` has read. */
    body?: unknown;
  }
}

const maxBytes = 1024 * 1024;

/** What of a body that is too large is still read, so that its sender comes to read the answer. */
const discarded = { bytes: 32 * 1024 * 1024, ms: 10_000 };

/** The methods whose body means something. What comes with any other is left alone, whatever it is. */
const withBody = new Set(["POST", "PUT", "PATCH"]);

/**
 * Reads a JSON object or array of at most 1 MiB into `ctx.request.body`; no body is `{}`, but for PUT, which would
 * replace something by nothing.
 * @throws {Invalid} for any other kind of body @throws {PayloadTooLarge}
 */
export const jsonBody = (): Middleware => async (ctx, next) => {
  if (!withBody.has(ctx.method)) return await next();
  const { "content-encoding": coding = "identity" } = ctx.req.headers;
  if (coding.toLowerCase() !== "identity") throw refused("The body must be sent without a Content-Encoding.");
  // `is` answers null when there is no body at all, but takes `Content-Length: 0` for one.
  if (ctx.request.length !== 0 && ctx.is("json", "+json") === false) {
    throw refused("The body must be sent as application/json.");
  }
  const bytes = await bytesOf(ctx.req);
  if (bytes.length === 0 && ctx.method === "PUT") throw refused("A body is required.");
  ctx.request.body = bytes.length === 0 ? {} : parseJson(bytes);
  await next();
};

/** Settles as soon as the whole body is there, or more than is allowed; what comes after that is discarded. */
const bytesOf = (req: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (): void => {
      chunks.length = 0;
      reject(new PayloadTooLarge());
      const late = setTimeout(() => req.destroy(), discarded.ms).unref();
      req.once("close", () => clearTimeout(late));
    };
    req.on("data", (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else if (before <= maxBytes) refuse();
      else if (size > maxBytes + discarded.bytes) req.destroy();
    });
    req.once("end", () => resolve(Buffer.concat(chunks)));
    req.once("error", reject);
    req.once("close", () => reject(refused("The body was cut off.")));
  });

const utf8 = new TextDecoder("utf-8", { fatal: true });

const parseJson = (bytes: Buffer): object => {
  const value = textToJson(bytes);
  if (typeof value !== "object" || value === null) throw refused("The body must be a JSON object or array.");
  return value;
};

/** A parser's own words may echo the body: they stay inside. */
const textToJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw refused("The body cannot be read: it must be well-formed JSON in UTF-8.");
  }
};

const refused = (message: string): Invalid => new Invalid([{ path: [], message }]);
