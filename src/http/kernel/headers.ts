import { z } from "zod";

/*
 * The response headers: their names and values. Operations combine these shapes; the OpenAPI
 * document shows them, and the contract test validates responses against them.
 */

/** The headers whose names begin with the operator's prefix (HEADER_PREFIX). */
export const headerNames = (prefix: string) => ({
  /** Tells where the audio came from: `miss`, `coalesced`, `memory` or `store`. */
  cached: `${prefix}-Cached`,
  /** The prosody parameters that the engine applied. */
  prosodyApplied: `${prefix}-Prosody-Applied`,
  /** The speed at which the audio is spoken. */
  speedApplied: `${prefix}-Speed-Applied`,
  /** A new access token; the presented one is past half its lifetime. */
  authRenewed: `X-${prefix}-Auth-Renewed`,
  /** The time at which the new token expires, in Unix seconds. */
  authRenewedExp: `X-${prefix}-Auth-Renewed-Exp`,
});

export type HeaderNames = Readonly<ReturnType<typeof headerNames>>;

/** The headers that pages of other origins may read, besides the CORS-safelisted ones. */
export const exposedHeaders = (names: HeaderNames): readonly string[] => [
  ...Object.values(names),
  "Accept-Ranges",
  "Allow",
  "Character-Cost",
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

const header = <Name extends string, S extends z.ZodType>(
  name: Name,
  schema: S,
  description: string,
  example?: string,
): { readonly [N in Name]: S } => {
  const described = schema.meta({ description, ...(example !== undefined && { examples: [example] }) });
  return { [name]: described } as { readonly [N in Name]: S };
};

const text = z.string();
const count = text.regex(/^\d+$/);

export const requestId = header(
  "X-Request-Id",
  z.uuid(),
  "The request's id. The log and the ledger use the same id.",
  "2c11356a-1a1c-4e53-8d0a-55b3c1ab0e5e",
);

export const rateLimits = {
  ...header("X-RateLimit-Limit", count, "Requests per minute that the key may make.", "100"),
  ...header("X-RateLimit-Remaining", count, "Requests left in the current minute (UTC).", "98"),
};

export const retryAfter = header("Retry-After", count, "Seconds to wait before repeating the request.", "42");

/** OpenAI's clients obey it. */
export const shouldRetry = header(
  "x-should-retry",
  z.enum(["true", "false"]),
  "Whether the same request may succeed later.",
  "true",
);

/** `policies`: every value that the header can have. */
export const cacheControl = (policies: readonly string[]) =>
  header("Cache-Control", z.enum(policies), "Which caches may store the response, and for how long.");

export const etag = header(
  "ETag",
  text.regex(/^"[^"]+"$/),
  "A strong entity tag, for `If-None-Match`.",
  '"4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192"',
);

export const vary = header("Vary", text, "The request headers that the response depends on.", "Origin");

export const acceptRanges = header("Accept-Ranges", z.literal("bytes"), "Byte ranges are supported.");

/** Responses that shared caches store do not have them. */
export const tokenRenewal = ({ authRenewed, authRenewedExp }: HeaderNames) => ({
  ...header(
    authRenewed,
    text.optional(),
    "A new access token, if the presented one is past half its lifetime.",
  ),
  ...header(authRenewedExp, count.optional(), "When the new access token expires, in Unix seconds."),
});

export const audioDuration = header(
  "X-Audio-Duration",
  text.regex(/^\d+\.\d{3}$/).optional(),
  "The duration of the whole audio in seconds. Absent on streams, and on HEAD if the audio does not exist yet.",
  "2.090",
);

export const contentRange = header(
  "Content-Range",
  text,
  "The range of bytes in the response, and the total size.",
  "bytes 0-1023/17972",
);

export const unsatisfiedRange = header("Content-Range", text, "The total size in bytes.", "bytes */17972");

export const contentLocation = header(
  "Content-Location",
  text.optional(),
  "The permanent URL of the audio, readable without credentials. Absent for a website's own engines.",
  "/audio/4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3",
);

export const marks = header(
  "Link",
  text.optional(),
  "The permanent URL of the marks: when each word is spoken. Absent if they are unknown.",
  '</audio/4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.marks.json>; rel="describedby"; type="application/x-ndjson"',
);

export const location = header(
  "Location",
  text,
  "The URL of the created resource.",
  "/admin/keys/vlk_0RrSxSzLwJvA8e1kzPpE3u7Q",
);

export const upgrade = {
  ...header("Upgrade", text, "The protocol to upgrade to.", "websocket"),
  ...header("Sec-WebSocket-Version", text, "The supported version.", "13"),
};

export const wwwAuthenticate = header("WWW-Authenticate", text, "The authentication scheme.", "Bearer");

export const cached = ({ cached }: HeaderNames) =>
  header(
    cached,
    z.enum(["miss", "coalesced", "memory", "store"]),
    "Where the audio came from: synthesized for this request (`miss`), shared with a concurrent request (`coalesced`), memory or the store.",
  );

export const prosodyApplied = ({ prosodyApplied }: HeaderNames) =>
  header(
    prosodyApplied,
    text.regex(/^(pitch)?(,?rate)?(,?volume)?$/),
    "Which of pitch, rate and volume the audio reflects, in this order.",
    "pitch,rate,volume",
  );

/** Only responses that are sent in chunks have this header. */
export const unbuffered = header(
  "X-Accel-Buffering",
  z.literal("no").optional(),
  "Asks proxies not to buffer the response.",
);

export const streaming = {
  ...header(
    "X-Streaming",
    z.enum(["sse", "audio"]).optional(),
    "Server-sent events, or the bytes of the audio.",
  ),
  ...unbuffered,
};

export const deprecation = {
  ...header("Deprecation", text.regex(/^@\d+$/), "Deprecated since this time (RFC 9745).", "@1767225600"),
  ...header("Sunset", text, "When the operation may be removed (RFC 8594).", "Fri, 31 Dec 2027 23:59:59 GMT"),
  ...header("Link", text, "The replacement.", '</v2/text/synthesize>; rel="successor-version"'),
};

export const noSniff = header(
  "X-Content-Type-Options",
  z.literal("nosniff"),
  "Browsers must not guess the type.",
);

export const contentSecurityPolicy = header(
  "Content-Security-Policy",
  text,
  "Allows nothing from other origins.",
  "default-src 'none'",
);

export const crossOriginResource = header(
  "Cross-Origin-Resource-Policy",
  z.literal("cross-origin"),
  "Any page may load it.",
);

/** The request header of a GET whose response has an entity tag. */
export const ifNoneMatch = header(
  "If-None-Match",
  text.optional(),
  "Entity tags that the caller has; the response is 304 if one matches, or for `*`.",
);

/** ElevenLabs' clients read it under this name. */
export const namedRequestId = header("request-id", z.uuid(), "The same as `X-Request-Id`.");

export const characterCost = header(
  "character-cost",
  count,
  "The characters that the request is charged; 0 for a repeat with the same Idempotency-Key.",
  "35",
);

export const speedApplied = ({ speedApplied }: HeaderNames) =>
  header(
    speedApplied,
    text.regex(/^\d+(\.\d+)?$/),
    "The speed at which the voice speaks: the requested one, or the nearest that it can.",
    "1",
  );
