/** Revisions of a stream, the last one inclusive. */
export type Range = [fromInclusive: number, toInclusive: number];

/** The `toInclusive` of a range without an end. */
export const openEnd = Number.MAX_SAFE_INTEGER;

/** Reads the ranges of a posting from a list of the first and the last revision of each. */
export const rangesIn = (flat: readonly number[]): Range[] => {
  const ranges: Range[] = [];
  for (let i = 0; i < flat.length; i += 2) ranges.push([flat[i] as number, flat[i + 1] as number]);
  return ranges;
};

/** Sorts the ranges in place. */
export const sortRanges = (ranges: Range[]): Range[] => ranges.sort(([a], [b]) => a - b);

/** Returns the same revisions, as ranges that do not overlap, in order. */
export const uniteRanges = (ranges: readonly Range[]): Range[] => {
  const united: Range[] = [];
  for (const [fromInclusive, toInclusive] of sortRanges([...ranges])) {
    const previous = united.at(-1);
    if (previous && fromInclusive <= previous[1] + 1) previous[1] = Math.max(previous[1], toInclusive);
    else united.push([fromInclusive, toInclusive]);
  }
  return united;
};

/** Revisions that are at most this far apart share a range: a further read would cost more. */
const maxDistance = 8;

/**
 * True if this revision continues a range that ends with `toInclusive`. The revision must not be
 * smaller than that.
 */
export const isInRange = (revision: number, toInclusive: number): boolean =>
  revision - toInclusive <= maxDistance;

/**
 * Adds a revision to ranges in the form of `UsagePosted.ranges`. The revision must not be smaller
 * than the last one in the ranges.
 */
export const addRevision = (ranges: number[], revision: number): void => {
  const last = ranges.at(-1);
  if (last !== undefined && isInRange(revision, last)) ranges[ranges.length - 1] = revision;
  else ranges.push(revision, revision);
};
