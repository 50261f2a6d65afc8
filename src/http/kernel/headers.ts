import { z } from "zod";

/*
 * Response headers: their names and what they hold. Each group is a zod shape that operations put together; the OpenAPI
 * document shows them, and the contract test validates responses against them.
 */

/** The headers whose names begin with the operator's prefix (HEADER_PREFIX). */
export interface HeaderNames {
  /** Where the audio came from: `miss`, `coalesced`, `memory` or `store`. */
  readonly cached: string;
  /** The prosody settings that the engine applied. */
  readonly prosodyApplied: string;
  /** A new access token; the presented one is past half its lifetime. */
  readonly authRenewed: string;
  /** When the new token expires, in Unix seconds. */
  readonly authRenewedExp: string;
}

export const headerNames = (prefix: string): HeaderNames => ({
  cached: `${prefix}-Cached`,
  prosodyApplied: `${prefix}-Prosody-Applied`,
  authRenewed: `X-${prefix}-Auth-Renewed`,
  authRenewedExp: `X-${prefix}-Auth-Renewed-Exp`,
});

/** The headers that pages of other origins may read, besides the CORS-safelisted ones. */
export const exposedHeaders = (names: HeaderNames): readonly string[] => [
  ...Object.values(names),
  "Accept-Ranges",
  "Allow",
  "Content-Location",
  "Content-Range",
  "Deprecation",
  "ETag",
  "Link",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-Audio-Duration",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-Request-Id",
  "X-Streaming",
];

const text = z.string();
const count = z.string().regex(/^\d+$/);

export const requestId = {
  "X-Request-Id": z.uuid().meta({
    description: "The request's id. The log and the ledger use the same id.",
    examples: ["2c11356a-1a1c-4e53-8d0a-55b3c1ab0e5e"],
  }),
};

export const rateLimits = {
  "X-RateLimit-Limit": count.meta({
    description: "Requests per minute that the key may make.",
    examples: ["100"],
  }),
  "X-RateLimit-Remaining": count.meta({
    description: "Requests left in the current minute (UTC).",
    examples: ["98"],
  }),
};

export const retryAfter = {
  "Retry-After": count.meta({
    description: "Seconds to wait before the request is repeated.",
    examples: ["42"],
  }),
};

/** `policies`: every value that the header can have. */
export const cacheControl = (policies: readonly string[]) => ({
  "Cache-Control": z
    .enum(policies)
    .meta({ description: "Which caches may store the response, and for how long." }),
});

export const etag = {
  ETag: z
    .string()
    .regex(/^"[^"]+"$/)
    .meta({
      description: "A strong entity tag, for `If-None-Match`.",
      examples: ['"4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192"'],
    }),
};

export const vary = {
  Vary: text.meta({ description: "The request headers that the response depends on.", examples: ["Origin"] }),
};

export const acceptRanges = {
  "Accept-Ranges": z.literal("bytes").meta({ description: "Byte ranges are supported." }),
};

/** Only on responses that shared caches do not store. */
export const tokenRenewal = ({ authRenewed, authRenewedExp }: HeaderNames) => ({
  [authRenewed]: z
    .string()
    .optional()
    .meta({ description: "A new access token, if the presented one is past half its lifetime." }),
  [authRenewedExp]: count
    .optional()
    .meta({ description: "When the new access token expires, in Unix seconds." }),
});

export const audioDuration = {
  "X-Audio-Duration": z
    .string()
    .regex(/^\d+\.\d{3}$/)
    .optional()
    .meta({
      description:
        "The duration of the whole audio in seconds. Absent on streams, and on HEAD if the audio does not exist yet.",
      examples: ["2.090"],
    }),
};

export const contentRange = {
  "Content-Range": text.meta({
    description: "The range of bytes in the response, and the total size.",
    examples: ["bytes 0-1023/17972"],
  }),
};

export const unsatisfiedRange = {
  "Content-Range": text.meta({ description: "The total size in bytes.", examples: ["bytes */17972"] }),
};

export const contentLocation = {
  "Content-Location": text.optional().meta({
    description:
      "The permanent URL of the audio, readable without credentials. Absent for a website's own engines.",
    examples: ["/audio/4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
  }),
};

export const location = {
  Location: text.meta({
    description: "The URL of the created resource.",
    examples: ["/admin/keys/vlk_0RrSxSzLwJvA8e1kzPpE3u7Q"],
  }),
};

export const upgrade = {
  Upgrade: text.meta({ description: "The protocol to upgrade to.", examples: ["websocket"] }),
  "Sec-WebSocket-Version": text.meta({ description: "The supported version.", examples: ["13"] }),
};

export const wwwAuthenticate = {
  "WWW-Authenticate": text.meta({ description: "The authentication scheme.", examples: ["Bearer"] }),
};

export const cached = ({ cached }: HeaderNames) => ({
  [cached]: z.enum(["miss", "coalesced", "memory", "store"]).meta({
    description:
      "Where the audio came from: synthesized for this request (`miss`), shared with a concurrent request (`coalesced`), memory or the store.",
  }),
});

export const prosodyApplied = ({ prosodyApplied }: HeaderNames) => ({
  [prosodyApplied]: z
    .string()
    .regex(/^(pitch)?(,?rate)?(,?volume)?$/)
    .meta({
      description: "Which of pitch, rate and volume the audio reflects, in this order.",
      examples: ["pitch,rate,volume"],
    }),
});

export const streaming = {
  "X-Streaming": z.enum(["sse", "audio"]).optional().meta({
    description: "Only on streams: server-sent events, or the bytes of the audio.",
  }),
  "X-Accel-Buffering": z.literal("no").optional().meta({
    description: "Only on streams: asks proxies not to buffer the response.",
  }),
};

export const deprecation = {
  Deprecation: z
    .string()
    .regex(/^@\d+$/)
    .meta({ description: "Deprecated since this time (RFC 9745).", examples: ["@1767225600"] }),
  Sunset: text.meta({
    description: "The operation may be removed after this time (RFC 8594).",
    examples: ["Fri, 31 Dec 2027 23:59:59 GMT"],
  }),
  Link: text.meta({
    description: "The operation that replaces this one.",
    examples: ['</v2/text/synthesize>; rel="successor-version"'],
  }),
};

export const noSniff = {
  "X-Content-Type-Options": z.literal("nosniff").meta({ description: "Browsers must not guess the type." }),
};

export const contentSecurityPolicy = {
  "Content-Security-Policy": text.meta({
    description: "Allows nothing from other origins.",
    examples: ["default-src 'none'"],
  }),
};

export const crossOriginResource = {
  "Cross-Origin-Resource-Policy": z.literal("cross-origin").meta({ description: "Any page may load it." }),
};
