/** The headers that carry the operator's prefix (HEADER_PREFIX). */
export interface HeaderNames {
  /** How the audio came to be there: `miss`, `coalesced`, `memory` or `store`. */
  readonly cached: string;
  /** The knobs that the engine applied. */
  readonly prosodyApplied: string;
  /** A fresh access token, in place of one that is past half its life. */
  readonly authRenewed: string;
  /** When that one expires, in unix seconds. */
  readonly authRenewedExp: string;
}

export const headerNames = (prefix: string): HeaderNames => ({
  cached: `${prefix}-Cached`,
  prosodyApplied: `${prefix}-Prosody-Applied`,
  authRenewed: `X-${prefix}-Auth-Renewed`,
  authRenewedExp: `X-${prefix}-Auth-Renewed-Exp`,
});

/** What a page of another origin may read of an answer, beside what browsers always show it. */
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
