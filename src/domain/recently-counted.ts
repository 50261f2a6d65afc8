/**
 * Which objects were counted lately: a list of cells that share their tails, so that remembering is O(1), changes
 * nothing that was handed out before, and needs no copy. Whenever it has doubled it is made anew without what has grown
 * old, so that it holds little more than what is recent.
 */
export interface RecentlyCounted {
  readonly newest: Cell | undefined;
  readonly length: number;
  /** The length at which it is made anew. */
  readonly full: number;
}

interface Cell {
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly older: Cell | undefined;
}

/** At most so many objects are remembered; a part of one beyond that is counted again. */
export const maxObjects = 4096;
const fewCells = 64;

export const nothingCounted: RecentlyCounted = { newest: undefined, length: 0, full: fewCells };

/** `keptMs`: how long an object is remembered for sure. */
export const remember = (
  recent: RecentlyCounted,
  hash: string,
  at: number,
  keptMs: number,
): RecentlyCounted => {
  const { newest, length, full } = recent;
  if (newest?.hash === hash) return { newest: { hash, at, older: newest.older }, length, full };
  const grown = { newest: { hash, at, older: newest }, length: length + 1, full };
  return grown.length < full ? grown : compact(grown, at - keptMs);
};

/** Whether the object was counted at `since` (milliseconds since the epoch) or later. */
export const countedSince = (recent: RecentlyCounted, hash: string, since: number): boolean => {
  for (const cell of cells(recent)) {
    if (cell.at < since) return false;
    if (cell.hash === hash) return true;
  }
  return false;
};

const compact = (recent: RecentlyCounted, since: number): RecentlyCounted => {
  const kept = new Map<string, number>();
  for (const { hash, at } of cells(recent)) {
    if (at < since || kept.size === maxObjects) break;
    if (!kept.has(hash)) kept.set(hash, at);
  }
  let newest: Cell | undefined;
  for (const [hash, at] of [...kept].reverse()) newest = { hash, at, older: newest };
  return { newest, length: kept.size, full: Math.max(fewCells, 2 * kept.size) };
};

function* cells({ newest }: RecentlyCounted): Iterable<Cell> {
  for (let cell = newest; cell; cell = cell.older) yield cell;
}
