import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { Invalid } from "../../domain/errors.ts";
import { PayloadTooLarge } from "./errors.ts";

const maxBytes = 1024 * 1024;

/** How much of a body that is too large is still read, so that the client reads the response before it sees a reset. */
const discarded = { bytes: 32 * 1024 * 1024, ms: 10_000 };

const jsonTypes = ["json", "+json"];

/**
 * Reads a JSON object or array of at most 1 MiB. An absent body is `{}` for POST, and an error for PUT and PATCH.
 * @throws {Invalid} for any other body @throws {PayloadTooLarge}
 */
export const readJsonBody = async (ctx: Context): Promise<object> => {
  const { "content-encoding": coding = "identity" } = ctx.req.headers;
  if (coding.toLowerCase() !== "identity") {
    throw invalid("The body must be sent without a Content-Encoding.");
  }
  // `is` returns null without a body, but treats `Content-Length: 0` as a body.
  if (ctx.request.length !== 0 && ctx.is(jsonTypes) === false) {
    throw invalid("The body must be sent as application/json.");
  }
  const bytes = await readBytes(ctx.req);
  if (bytes.length > 0) return parseJson(bytes);
  if (ctx.method !== "POST") throw invalid("A body is required.");
  return {};
};

const readBytes = async (req: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  // Without destroyOnReturn, because the response is still to be sent.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > maxBytes) {
      discardRest(req);
      throw new PayloadTooLarge();
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const discardRest = (req: IncomingMessage): void => {
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > discarded.bytes) req.destroy();
  });
  const timeout = setTimeout(() => req.destroy(), discarded.ms).unref();
  req.once("close", () => clearTimeout(timeout));
  req.resume();
};

/** A `__proto__` member is refused, because merging it into an object would change the object's prototype. */
const parseJson = (bytes: Buffer): object => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text, (key, member) => (key === "__proto__" ? refuse() : member));
    return typeof value === "object" && value !== null ? value : refuse();
  } catch {
    throw invalid("The body cannot be read: it must be a JSON object or array in UTF-8.");
  }
};

const refuse = (): never => {
  throw new TypeError("not acceptable");
};

const invalid = (message: string): Invalid => new Invalid([{ path: [], message }]);
