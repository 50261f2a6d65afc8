/** The headers that carry the operator's prefix (HEADER_PREFIX). */
export interface HeaderNames {
  /** How the audio came to be there: `miss`, `coalesced`, `memory` or `store`. */
  readonly cached: string;
  /** The knobs that the engine applied. */
  readonly prosodyApplied: string;
}

export const headerNames = (prefix: string): HeaderNames => ({
  cached: `${prefix}-Cached`,
  prosodyApplied: `${prefix}-Prosody-Applied`,
});
