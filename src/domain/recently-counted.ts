/**
 * Which objects were counted lately: a list of cells that share their tails, so that remembering is O(1), changes
 * nothing that was handed out before, and needs no copy. Now and then it is made anew without what has grown old.
 */
export interface RecentlyCounted {
  readonly newest: Cell | undefined;
  readonly length: number;
}

interface Cell {
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly older: Cell | undefined;
}

/** At most so many objects are remembered; a part of one beyond that is counted again. */
const maxObjects = 4096;
const maxCells = 2 * maxObjects;

export const nothingCounted: RecentlyCounted = { newest: undefined, length: 0 };

export const remember = (
  recent: RecentlyCounted,
  hash: string,
  at: number,
  graceMs: number,
): RecentlyCounted => {
  const { newest, length } = recent;
  if (newest?.hash === hash) return { newest: { hash, at, older: newest.older }, length };
  const grown = { newest: { hash, at, older: newest }, length: length + 1 };
  return grown.length < maxCells ? grown : compact(grown, at - graceMs);
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
  return { newest, length: kept.size };
};

function* cells({ newest }: RecentlyCounted): Iterable<Cell> {
  for (let cell = newest; cell; cell = cell.older) yield cell;
}
