import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Context, Middleware } from "koa";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";

/** A response of at most this size is not compressed (RFC 9110, section 8.4). */
const minBytes = 1_024;

const compressors = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
};
type Coding = keyof typeof compressors;

/**
 * Finds the coding that the client prefers. Without weights it is br, because browsers list gzip
 * first.
 */
const preferredOf = (ctx: Context, accept: string): string | undefined =>
  /;\s*q=/i.test(accept)
    ? ctx.acceptsEncodings("br", "gzip", "identity") || undefined
    : ["br", "gzip"].find((coding) => ctx.acceptsEncodings(coding));

/** Chooses the coding for a response of this size; undefined for none. Sets `Vary`. */
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

/**
 * The size of the cache of compressed responses that have an entity tag: lists of voices, the
 * OpenAPI document, scripts.
 */
const maxCachedBytes = 16 * 1024 * 1024;

/**
 * The maximum number of concurrent compressions: they use the threads that also read files and look
 * up names.
 */
const maxCompressions = 2;

/**
 * Compresses JSON, pages, scripts and style sheets of more than 1 KiB. Strong entity tags must come
 * from `codedTag`. Tests replace `compress`.
 */
export const compressText = (
  compress = (coding: Coding, body: Buffer): Promise<Buffer> => compressors[coding](body),
): Middleware => {
  const limit = pLimit(maxCompressions);
  const cache = new LRUCache<string, Buffer, () => Promise<Buffer>>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ length }, key) => length + key.length,
    // Concurrent requests for the same content share a compression. It continues if the first of
    // them is aborted.
    fetchMethod: (_, __, { context: start }) => start(),
    ignoreFetchAbort: true,
  });
  return async (ctx, next) => {
    await next();
    const body = ctx.headerSent || ctx.respond === false ? undefined : textIn(ctx);
    const coding = body && codingFor(ctx, body.length);
    if (!body || !coding) return;
    const start = (): Promise<Buffer> => limit(compress, coding, body);
    ctx.body = ctx.response.get("ETag")
      ? await cache.forceFetch(`${coding} ${digestOf(body)}`, { context: start })
      : await start();
    ctx.set("Content-Encoding", coding);
  };
};

/** The digests of bodies, each kept as long as its body is in memory. */
const digests = new WeakMap<Buffer, string>();

/**
 * Compressed bodies are cached by this digest, not by URL or entity tag: any client can vary the
 * URL, and different lists of the same voices share an entity tag.
 */
const digestOf = (body: Buffer): string => {
  const known = digests.get(body);
  if (known !== undefined) return known;
  const digest = hash("sha256", body, "base64url");
  digests.set(body, digest);
  return digest;
};

/**
 * The bytes of a body whose type is compressed; undefined for any other. Koa serializes objects in
 * the same way.
 */
const textIn = ({ body, response }: Context): Buffer | undefined => {
  if (!response.is("json", "html", "text/javascript", "text/css")) return undefined;
  if (Buffer.isBuffer(body)) return body;
  const isPlain = typeof body === "object" && body !== null && !("pipe" in body);
  return isPlain ? Buffer.from(JSON.stringify(body)) : undefined;
};
