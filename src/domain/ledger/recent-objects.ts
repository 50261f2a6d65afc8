import { SmallMap } from "../small-map.ts";

/**
 * The charges of a key for an object at the last two times, in milliseconds: a charge may be voided while others, of the same
 * or an earlier time, stay.
 */
interface Charges {
  last: number;
  lastCount: number;
  earlier: number;
  earlierCount: number;
}

/** Charges per key and object. */
type Generation = Map<string, SmallMap<Charges>>;

const never = Number.NEGATIVE_INFINITY;

const maxPerGeneration = 50_000;
const maxPerKeyAndGeneration = 5_000;

/**
 * The objects for which keys were charged within a window. Holds 100,000 objects at most; when there are more, the oldest are
 * forgotten. A key holds a tenth at most, so that one key cannot displace the others.
 *
 * Two generations replace single deletions: the older one is dropped as a whole when it is older than the window, or when the
 * newer one is full.
 */
export class RecentObjects {
  readonly #windowMs: number;
  #newer: Generation = new Map();
  #older: Generation = new Map();
  #size = 0;
  #startedAt = never;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Times are in milliseconds since the epoch; they need not be in order. */
  add(apiKey: string, hash: string, at: number): void {
    if (this.#size >= maxPerGeneration || at - this.#startedAt > this.#windowMs) this.#startGeneration(at);
    let objects = this.#newer.get(apiKey);
    if (objects === undefined) {
      objects = new SmallMap();
      this.#newer.set(apiKey, objects);
    }
    const known = objects.get(hash);
    if (known !== undefined) {
      addCharge(known, at);
      return;
    }
    objects.set(hash, { last: at, lastCount: 1, earlier: never, earlierCount: 0 });
    this.#size += 1;
    if (objects.size >= maxPerKeyAndGeneration) this.#startGenerationOf(apiKey, objects);
  }

  /** Forgets one charge of this time. Call it once for each voided charge, after `add`. */
  delete(apiKey: string, hash: string, at: number): void {
    for (const generation of [this.#newer, this.#older]) {
      const charges = generation.get(apiKey)?.get(hash);
      if (charges && deleteCharge(charges, at)) return;
    }
  }

  has(apiKey: string, hash: string, now: number): boolean {
    const since = now - this.#windowMs;
    const isRecent = (generation: Generation) => (generation.get(apiKey)?.get(hash)?.last ?? never) >= since;
    return isRecent(this.#newer) || isRecent(this.#older);
  }

  #startGeneration(now: number): void {
    this.#older = this.#newer;
    this.#newer = new Map();
    this.#size = 0;
    this.#startedAt = now;
  }

  /** A key with very many objects has its own generations. */
  #startGenerationOf(apiKey: string, objects: SmallMap<Charges>): void {
    this.#size -= objects.size;
    this.#older.set(apiKey, objects);
    this.#newer.delete(apiKey);
  }
}

const addCharge = (charges: Charges, at: number): void => {
  if (at === charges.last) charges.lastCount += 1;
  else if (at > charges.last) {
    charges.earlier = charges.last;
    charges.earlierCount = charges.lastCount;
    charges.last = at;
    charges.lastCount = 1;
  } else if (at === charges.earlier) charges.earlierCount += 1;
  else if (at > charges.earlier) {
    charges.earlier = at;
    charges.earlierCount = 1;
  }
};

/** False if there is no charge of this time. Without charges the entry stays, because a deletion would have to be counted. */
const deleteCharge = (charges: Charges, at: number): boolean => {
  if (at === charges.earlier && charges.earlierCount > 0) {
    charges.earlierCount -= 1;
    if (charges.earlierCount === 0) charges.earlier = never;
    return true;
  }
  if (at !== charges.last || charges.lastCount === 0) return false;
  charges.lastCount -= 1;
  if (charges.lastCount > 0) return true;
  charges.last = charges.earlier;
  charges.lastCount = charges.earlierCount;
  charges.earlier = never;
  charges.earlierCount = 0;
  return true;
};
