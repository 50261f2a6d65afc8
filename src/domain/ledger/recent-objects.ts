/**
 * The charges of a key for an object at the last two times, in milliseconds: a charge may be voided while others, of the same
 * or an earlier time, stay.
 */
interface Charges {
  readonly hash: string;
  last: number;
  lastCount: number;
  earlier: number;
  earlierCount: number;
}

const never = Number.NEGATIVE_INFINITY;

const maxPerGeneration = 50_000;
const maxPerKeyAndGeneration = 5_000;

/**
 * The objects for which keys were charged within a window. Holds 100,000 objects at most; when there are more, the oldest are
 * forgotten. A key holds a tenth at most, so that one key cannot displace the others. Times are in milliseconds since the epoch.
 *
 * Two generations replace single deletions: the older one is dropped as a whole when it is older than the window, or when the
 * newer one is full.
 */
export class RecentObjects {
  readonly #windowMs: number;
  #newer = new Generation(never);
  #older = new Generation(never);

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Add older charges first: what was added first is forgotten first. */
  add(apiKey: string, hash: string, at: number): void {
    if (this.#newer.size >= maxPerGeneration || at - this.#newer.startedAt > this.#windowMs) {
      this.#older = this.#newer;
      this.#newer = new Generation(at);
    }
    const objects = this.#newer.add(apiKey, hash, at);
    // A key with very many objects has its own generations.
    if (objects < maxPerKeyAndGeneration) return;
    this.#newer.move(apiKey, this.#older);
    this.#older.forgetOldest(maxPerGeneration);
  }

  /** Forgets one charge of this time. Call it once for each voided charge, after `add`. */
  delete(apiKey: string, hash: string, at: number): void {
    for (const generation of [this.#newer, this.#older]) {
      const charges = generation.find(apiKey, hash);
      if (charges && deleteCharge(charges, at)) return;
    }
  }

  has(apiKey: string, hash: string, now: number): boolean {
    const since = now - this.#windowMs;
    const isRecent = (generation: Generation) => (generation.find(apiKey, hash)?.last ?? never) >= since;
    return isRecent(this.#newer) || isRecent(this.#older);
  }
}

class Generation {
  readonly startedAt: number;
  /** A key's only object, or its objects by hash: with 100,000 active keys, which mostly have one, a map for each would take 20 MB. */
  readonly #keys = new Map<string, Charges | Map<string, Charges>>();
  #size = 0;

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** The number of all keys' objects. */
  get size(): number {
    return this.#size;
  }

  find(apiKey: string, hash: string): Charges | undefined {
    const objects = this.#keys.get(apiKey);
    if (objects instanceof Map) return objects.get(hash);
    return objects?.hash === hash ? objects : undefined;
  }

  /** Returns the number of the key's objects. */
  add(apiKey: string, hash: string, at: number): number {
    const known = this.find(apiKey, hash);
    if (known) addCharge(known, at);
    else {
      const objects = this.#keys.get(apiKey);
      const charges = { hash, last: at, lastCount: 1, earlier: never, earlierCount: 0 };
      if (objects instanceof Map) objects.set(hash, charges);
      else this.#keys.set(apiKey, objects ? mapOf(objects, charges) : charges);
      this.#size += 1;
    }
    return sizeOf(this.#keys.get(apiKey));
  }

  /** Replaces the key's objects in another generation, where it becomes the newest key. */
  move(apiKey: string, to: Generation): void {
    const objects = this.#take(apiKey);
    if (!objects) return;
    to.#take(apiKey);
    to.#keys.set(apiKey, objects);
    to.#size += sizeOf(objects);
  }

  /** Forgets the keys that were added first until at most `maxSize` objects are left. */
  forgetOldest(maxSize: number): void {
    for (const apiKey of this.#keys.keys()) {
      if (this.#size <= maxSize) return;
      this.#take(apiKey);
    }
  }

  #take(apiKey: string): Charges | Map<string, Charges> | undefined {
    const objects = this.#keys.get(apiKey);
    this.#keys.delete(apiKey);
    this.#size -= sizeOf(objects);
    return objects;
  }
}

const sizeOf = (objects: Charges | Map<string, Charges> | undefined): number => {
  if (objects instanceof Map) return objects.size;
  return objects ? 1 : 0;
};

const mapOf = (...objects: readonly Charges[]): Map<string, Charges> =>
  new Map(objects.map((charges) => [charges.hash, charges]));

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
