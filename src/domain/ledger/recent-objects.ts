/**
 * The charges of a key for an object at the last two times: a charge may be voided while others, of the same or an earlier
 * time, stay. Times are in milliseconds since the start of the generation: small integers, which V8 stores without an object
 * each.
 */
interface Charges {
  readonly hash: string;
  last: number;
  lastCount: number;
  earlier: number;
  earlierCount: number;
}

const maxPerGeneration = 50_000;
const maxPerKeyAndGeneration = 5_000;

/**
 * The objects for which keys were charged within a window. Holds 100,000 objects at most; when there are more, the oldest are
 * forgotten. A key holds a tenth at most, so that one key cannot displace the others. Times are in milliseconds since the epoch.
 *
 * Two generations replace single deletions: the older one is dropped as a whole when it is older than the window, or when there
 * are too many objects.
 */
export class RecentObjects {
  readonly #windowMs: number;
  #newer: Generation;
  #older: Generation;

  /** `now`: about the time of the first charge. */
  constructor(windowMs: number, now: number) {
    this.#windowMs = windowMs;
    this.#newer = new Generation(now);
    this.#older = new Generation(now);
  }

  /** Add older charges first: what was added first is forgotten first. */
  add(apiKey: string, hash: string, at: number): void {
    const isOver = at - this.#newer.startedAt > this.#windowMs;
    if (isOver || this.#newer.size >= maxPerGeneration) {
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
    if (!this.#newer.delete(apiKey, hash, at)) this.#older.delete(apiKey, hash, at);
  }

  has(apiKey: string, hash: string, now: number): boolean {
    const since = now - this.#windowMs;
    return this.#newer.lastCharge(apiKey, hash) >= since || this.#older.lastCharge(apiKey, hash) >= since;
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

  /** Returns the number of the key's objects. */
  add(apiKey: string, hash: string, at: number): number {
    const last = at - this.startedAt;
    const objects = this.#keys.get(apiKey);
    const known = findObject(objects, hash);
    if (known) addCharge(known, last);
    else {
      const charges = { hash, last, lastCount: 1, earlier: 0, earlierCount: 0 };
      if (objects instanceof Map) objects.set(hash, charges);
      else this.#keys.set(apiKey, objects ? mapOf([objects, charges]) : charges);
      this.#size += 1;
    }
    return objects instanceof Map ? objects.size : 1;
  }

  /** False if there is no charge of this time. */
  delete(apiKey: string, hash: string, at: number): boolean {
    const charges = findObject(this.#keys.get(apiKey), hash);
    return charges !== undefined && deleteCharge(charges, at - this.startedAt);
  }

  /** When the key was last charged for the object; minus infinity if it was not. */
  lastCharge(apiKey: string, hash: string): number {
    const charges = findObject(this.#keys.get(apiKey), hash);
    return charges && charges.lastCount > 0 ? charges.last + this.startedAt : Number.NEGATIVE_INFINITY;
  }

  /** Replaces the key's objects in another generation by those of this one. */
  move(apiKey: string, to: Generation): void {
    const moved = objectsOf(this.#keys.get(apiKey));
    const replaced = objectsOf(to.#keys.get(apiKey));
    const later = this.startedAt - to.startedAt;
    for (const charges of moved) {
      charges.last += later;
      charges.earlier += later;
    }
    to.#keys.delete(apiKey); // it becomes the newest
    to.#keys.set(apiKey, mapOf(moved));
    to.#size += moved.length - replaced.length;
    this.#keys.delete(apiKey);
    this.#size -= moved.length;
  }

  /** Forgets the objects of the keys that were added first, until there are at most so many. */
  forgetOldest(maxSize: number): void {
    for (const [apiKey, objects] of this.#keys) {
      if (this.#size <= maxSize) return;
      this.#keys.delete(apiKey);
      this.#size -= objects instanceof Map ? objects.size : 1;
    }
  }
}

type Objects = Charges | Map<string, Charges> | undefined;

const findObject = (objects: Objects, hash: string): Charges | undefined => {
  if (objects instanceof Map) return objects.get(hash);
  return objects?.hash === hash ? objects : undefined;
};

const objectsOf = (objects: Objects): Charges[] => {
  if (objects instanceof Map) return [...objects.values()];
  return objects ? [objects] : [];
};

const mapOf = (objects: readonly Charges[]): Map<string, Charges> =>
  new Map(objects.map((charges) => [charges.hash, charges]));

const addCharge = (charges: Charges, at: number): void => {
  const { last, lastCount, earlier, earlierCount } = charges;
  if (lastCount === 0 || at > last) {
    charges.earlier = last;
    charges.earlierCount = lastCount;
    charges.last = at;
    charges.lastCount = 1;
  } else if (at === last) charges.lastCount += 1;
  else if (earlierCount === 0 || at > earlier) {
    charges.earlier = at;
    charges.earlierCount = 1;
  } else if (at === earlier) charges.earlierCount += 1;
};

/** False if there is no charge of this time. Without charges the entry stays, because a deletion would have to be counted. */
const deleteCharge = (charges: Charges, at: number): boolean => {
  if (charges.earlierCount > 0 && at === charges.earlier) {
    charges.earlierCount -= 1;
    return true;
  }
  if (charges.lastCount === 0 || at !== charges.last) return false;
  charges.lastCount -= 1;
  if (charges.lastCount > 0) return true;
  charges.last = charges.earlier;
  charges.lastCount = charges.earlierCount;
  charges.earlierCount = 0;
  return true;
};
