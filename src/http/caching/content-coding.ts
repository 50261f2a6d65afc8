import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Context, Middleware } from "koa";
import { LRUCache } from "lru-cache";

/** A smaller response is not compressed (RFC 9110, section 8.4). */
const minBytes = 1_024;

const compressors = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
};
type Coding = keyof typeof compressors;

/** The coding that the client prefers; br without weights, because browsers list gzip first. */
const preferredOf = (ctx: Context, accept: string): string | undefined =>
  /;\s*q=/i.test(accept)
    ? ctx.acceptsEncodings("br", "gzip", "identity") || undefined
    : ["br", "gzip"].find((coding) => ctx.acceptsEncodings(coding));

/** The coding for a response of that size; undefined for none. Sets `Vary`. */
const codingFor = (ctx: Context, bytes: number): Coding | undefined => {
  if (bytes <= minBytes) return undefined;
  ctx.vary("Accept-Encoding");
  const accept = ctx.req.headers["accept-encoding"];
  if (accept === undefined) return undefined; // any coding is acceptable
  const preferred = preferredOf(ctx, String(accept));
  return preferred === "br" || preferred === "gzip" ? preferred : undefined;
};

/** The strong entity tag of the selected representation: each coding has its own. */
export const codedTag = (ctx: Context, etag: string, bytes: number): string => {
  const coding = codingFor(ctx, bytes);
  return coding ? `"${hash("sha256", `${coding} ${etag}`, "base64url")}"` : etag;
};

/** The cache of compressed responses to GET that have an entity tag: lists of voices, the OpenAPI document, scripts. */
const maxCachedBytes = 16 * 1024 * 1024;

/** Compresses JSON, pages, scripts and style sheets of more than 1 KiB. Strong entity tags must come from `codedTag`. */
export const compressText = (): Middleware => {
  const cache = new LRUCache<string, Buffer>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ length }, key) => length + key.length,
  });
  const compressed = async (body: Buffer, coding: Coding, key: string | undefined): Promise<Buffer> => {
    const cached = key && cache.get(key);
    if (cached) return cached;
    const fresh = await compressors[coding](body);
    if (key) cache.set(key, fresh);
    return fresh;
  };
  return async (ctx, next) => {
    await next();
    const body = ctx.headerSent || ctx.respond === false ? undefined : textIn(ctx);
    const coding = body && codingFor(ctx, body.length);
    if (!body || !coding) return;
    ctx.body = await compressed(body, coding, keyOf(ctx));
    ctx.set("Content-Encoding", coding);
  };
};

/** Includes the URL, because lists of the same voices share a tag, but each links to itself. */
const keyOf = ({ method, url, response }: Context): string | undefined => {
  const etag = response.get("ETag");
  return etag && (method === "GET" || method === "HEAD") ? `${url} ${etag}` : undefined;
};

/** The body as bytes if it is such a text. Koa serializes objects in the same way. */
const textIn = ({ body, response }: Context): Buffer | undefined => {
  if (!response.is("json", "html", "text/javascript", "text/css")) return undefined;
  if (Buffer.isBuffer(body)) return body;
  const isPlain = typeof body === "object" && body !== null && !("pipe" in body);
  return isPlain ? Buffer.from(JSON.stringify(body)) : undefined;
};
