/**
 * The recent values of some keys: a persistent linked list, so that adding is O(1) and needs no copy. When its length has
 * doubled, it is compacted to the recent values.
 */
export interface Recent<V> {
  readonly newest: Cell<V> | undefined;
  readonly length: number;
  /** The length at which it is compacted. */
  readonly full: number;
}

interface Cell<V> {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly value: V;
  readonly older: Cell<V> | undefined;
}

/** What is retained at least: the newest `max` keys of the last `keptMs`. */
export interface Retention {
  readonly max: number;
  readonly keptMs: number;
}

const minCompactAt = 64;

export const emptyRecent: Recent<never> = { newest: undefined, length: 0, full: minCompactAt };

/** `now`: milliseconds since the epoch, to determine ages. */
export const remember = <V>(
  recent: Recent<V>,
  { key, at, value }: Omit<Cell<V>, "older">,
  { max, keptMs }: Retention,
  now = at,
): Recent<V> => {
  const { newest, length, full } = recent;
  if (newest?.key === key) return { newest: { key, at, value, older: newest.older }, length, full };
  const grown = { newest: { key, at, value, older: newest }, length: length + 1, full };
  return grown.length < full ? grown : compact(grown, now - keptMs, max);
};

/** The last value of the key, unless it is older than `since` (milliseconds since the epoch). */
export const lookUp = <V>(recent: Recent<V>, key: string, since: number): V | undefined => {
  for (const cell of cells(recent)) if (cell.key === key) return cell.at < since ? undefined : cell.value;
  return undefined;
};

const compact = <V>(recent: Recent<V>, since: number, max: number): Recent<V> => {
  const kept = new Map<string, Cell<V>>();
  for (const cell of cells(recent)) {
    if (kept.size === max) break;
    if (cell.at >= since && !kept.has(cell.key)) kept.set(cell.key, cell);
  }
  let newest: Cell<V> | undefined;
  for (const [key, { at, value }] of [...kept].reverse()) newest = { key, at, value, older: newest };
  return { newest, length: kept.size, full: Math.max(minCompactAt, 2 * kept.size) };
};

function* cells<V>({ newest }: Recent<V>): Iterable<Cell<V>> {
  for (let cell = newest; cell; cell = cell.older) yield cell;
}
