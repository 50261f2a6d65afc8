import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Context, Middleware } from "koa";
import { LRUCache } from "lru-cache";

/** Content codings of JSON answers (RFC 9110, section 8.4): smaller ones gain nothing. */
const leastBytes = 1_024;

const compressors = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
};
type Coding = keyof typeof compressors;

/** The coding that the client prefers, and br before gzip for clients that weigh none: browsers list gzip first. */
const preferredOf = (ctx: Context, accept: string): string | undefined =>
  /;\s*q=/i.test(accept)
    ? ctx.acceptsEncodings("br", "gzip", "identity") || undefined
    : ["br", "gzip"].find((coding) => ctx.acceptsEncodings(coding));

/** The coding for an answer of that size; undefined for none. Says in `Vary` that it depends on the request. */
const codingFor = (ctx: Context, bytes: number): Coding | undefined => {
  if (bytes <= leastBytes) return undefined;
  ctx.vary("Accept-Encoding");
  const accept = ctx.req.headers["accept-encoding"];
  if (accept === undefined) return undefined; // any coding is acceptable: the simplest
  const preferred = preferredOf(ctx, String(accept));
  return preferred === "br" || preferred === "gzip" ? preferred : undefined;
};

/** The strong tag of the representation that the request selects: each coding has its own. */
export const codedTag = (ctx: Context, etag: string, bytes: number): string => {
  const coding = codingFor(ctx, bytes);
  return coding ? `"${hash("sha256", `${coding} ${etag}`, "base64url")}"` : etag;
};

/** Compressed answers to GET with a tag are kept: the lists of voices, the description. */
const keptBytes = 16 * 1024 * 1024;

/** Compresses JSON answers of more than 1 KiB. An answer with a strong tag takes it from `codedTag`. */
export const compressJson = (): Middleware => {
  const kept = new LRUCache<string, Buffer>({
    maxSize: keptBytes,
    sizeCalculation: ({ length }, key) => length + key.length,
  });
  const compressed = async (body: Buffer, coding: Coding, key: string | undefined): Promise<Buffer> => {
    const known = key && kept.get(key);
    if (known) return known;
    const fresh = await compressors[coding](body);
    if (key) kept.set(key, fresh);
    return fresh;
  };
  return async (ctx, next) => {
    await next();
    const body = ctx.headerSent || ctx.respond === false ? undefined : jsonIn(ctx);
    const coding = body && codingFor(ctx, body.length);
    if (!body || !coding) return;
    ctx.body = await compressed(body, coding, keyOf(ctx));
    ctx.set("Content-Encoding", coding);
  };
};

/** A tag is strong for its own URL only: lists of the same voices share one, but each links to itself. */
const keyOf = ({ method, url, response }: Context): string | undefined => {
  const etag = response.get("ETag");
  return etag && (method === "GET" || method === "HEAD") ? `${url} ${etag}` : undefined;
};

/** The body as bytes if it is JSON; Koa would write an object in the same way. */
const jsonIn = ({ body, response }: Context): Buffer | undefined => {
  if (!response.is("json")) return undefined;
  if (Buffer.isBuffer(body)) return body;
  const isPlain = typeof body === "object" && body !== null && !("pipe" in body);
  return isPlain ? Buffer.from(JSON.stringify(body)) : undefined;
};
