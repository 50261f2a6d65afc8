/** Conditional and partial requests (RFC 9110, sections 13 and 14). */

/** True if `If-None-Match` is `*`, which matches any existing representation. */
export const isAnyTag = (ifNoneMatch: string | undefined): boolean => ifNoneMatch?.trim() === "*";

/** True if `If-None-Match` matches one of the entity tags, by weak comparison. */
export const noneMatchHits = (ifNoneMatch: string | undefined, etags: readonly string[]): boolean => {
  if (ifNoneMatch === undefined) return false;
  if (isAnyTag(ifNoneMatch)) return true;
  const requested = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return requested.some((tag) => etags.includes(tag.replace(/^W\//, "")));
};

/**
 * The requested bytes, both ends inclusive; `whole` if no range applies, `unsatisfiable` for a 416.
 */
export type Part = "whole" | "unsatisfiable" | { readonly first: number; readonly last: number };

/**
 * Parses a single byte range. Several ranges, other units and malformed ranges are ignored, as RFC
 * 9110 allows; so is a range whose `If-Range` is not the strong tag.
 */
export const partOf = (
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
  etag: string,
  size: number,
): Part => {
  if (range === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return "whole";
  const requested = /^bytes\s*=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range);
  if (!requested) return "whole";
  const [, from = "", to = ""] = requested;
  if (from === "" && to === "") return "whole";
  if (from === "")
    return Number(to) === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== "" && Number(to) < Number(from)) return "whole";
  if (Number(from) >= size) return "unsatisfiable";
  return { first: Number(from), last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
};
