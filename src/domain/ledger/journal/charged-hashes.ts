import { PerKey } from "../../accounts/key-numbers.ts";

const maxPerGeneration = 50_000;
const maxPerKeyAndGeneration = 5_000;
const maxHeavyKeys = 10;

/**
 * The hashes of audio for which keys were charged within a window. Holds at most 150,000 hashes;
 * when there are more, the oldest are forgotten. A key holds a tenth at most, so that one key
 * cannot displace the others. Times are in milliseconds since the epoch.
 *
 * Old hashes are not deleted one by one. There are two generations, and the older one is dropped as
 * a whole when it is older than the window, or when the newer one is full. Keys with very many
 * hashes have generations of their own.
 */
export class ChargedHashes {
  readonly #windowMs: number;
  #newer = new Generation(0);
  #older = new Generation(0);
  /** Keys are numbers of API keys. The generation that was added first is dropped first. */
  readonly #heavy = new Map<number, Generation>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /**
   * Add older charges first: what was added first is forgotten first. `unsent`: bytes that the
   * charge pays for, and that were not sent with it.
   */
  add(keyNumber: number, hash: string, at: number, unsent = 0): void {
    // After a wrong clock was corrected, the time may be earlier than the generation's start.
    if (this.#newer.size >= maxPerGeneration || Math.abs(at - this.#newer.startedAt) > this.#windowMs) {
      this.#older = this.#newer;
      this.#newer = new Generation(at);
    }
    if (this.#newer.add(keyNumber, hash, at, unsent) >= maxPerKeyAndGeneration) this.#separate(keyNumber);
  }

  #separate(keyNumber: number): void {
    this.#heavy.delete(keyNumber);
    this.#heavy.set(keyNumber, this.#newer.remove(keyNumber));
    const [first] = this.#heavy.keys();
    if (first !== undefined && this.#heavy.size > maxHeavyKeys) this.#heavy.delete(first);
  }

  /** Forgets one charge of this time. Call it once for each voided charge, after `add`. */
  delete(keyNumber: number, hash: string, at: number): void {
    this.#generationsOf(keyNumber).some((generation) => generation.delete(keyNumber, hash, at));
  }

  has(keyNumber: number, hash: string, now: number): boolean {
    const fromInclusive = now - this.#windowMs;
    return this.#generationsOf(keyNumber).some((generation) =>
      generation.has(keyNumber, hash, fromInclusive),
    );
  }

  /** The bytes of the audio that are paid for and not sent. */
  unsent(keyNumber: number, hash: string, now: number): number {
    const fromInclusive = now - this.#windowMs;
    return this.#generationsOf(keyNumber).reduce(
      (sum, generation) => sum + generation.unsent(keyNumber, hash, fromInclusive),
      0,
    );
  }

  /** Subtracts sent bytes from those that are paid for. A negative number adds them again. */
  send(keyNumber: number, hash: string, bytes: number): void {
    let left = bytes;
    for (const generation of this.#generationsOf(keyNumber)) left -= generation.send(keyNumber, hash, left);
  }

  #generationsOf(keyNumber: number): Generation[] {
    const heavy = this.#heavy.get(keyNumber);
    return heavy ? [this.#newer, this.#older, heavy] : [this.#newer, this.#older];
  }
}

/**
 * The charges of a key for one hash at the last two times. Both are kept, because a charge may be
 * voided while others, of the same or an earlier time, stay. A time with the count 0 is ignored.
 * Times are relative to the generation's start, because V8 stores small integers in place.
 */
interface Charges {
  readonly hash: string;
  last: number;
  lastCount: number;
  earlier: number;
  earlierCount: number;
  /** Bytes that are paid for and not sent. */
  unsent: number;
}

/**
 * The charges of a key: those for its only hash, or for several, by hash. With 100,000 active keys,
 * which mostly have one, a map for each would take 20 MB.
 */
type KeyCharges = Charges | Map<string, Charges>;

type Keys = PerKey<KeyCharges> | Map<number, KeyCharges | undefined>;

class Generation {
  readonly startedAt: number;
  readonly #keys: Keys;
  #size = 0;

  constructor(startedAt: number, keys: Keys = new PerKey()) {
    this.startedAt = startedAt;
    this.#keys = keys;
  }

  /** The number of all keys' hashes. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of the key's hashes. */
  add(keyNumber: number, hash: string, at: number, unsent: number): number {
    const ofKey = this.#keys.get(keyNumber);
    const known = find(ofKey, hash);
    if (known) {
      addCharge(known, at - this.startedAt);
      known.unsent += unsent;
    } else {
      const charges = { hash, last: at - this.startedAt, lastCount: 1, earlier: 0, earlierCount: 0, unsent };
      if (ofKey instanceof Map) ofKey.set(hash, charges);
      else this.#keys.set(keyNumber, ofKey ? mapOf(ofKey, charges) : charges);
      this.#size += 1;
    }
    return sizeOf(this.#keys.get(keyNumber));
  }

  has(keyNumber: number, hash: string, fromInclusive: number): boolean {
    const charges = find(this.#keys.get(keyNumber), hash);
    return charges !== undefined && charges.lastCount > 0 && charges.last >= fromInclusive - this.startedAt;
  }

  unsent(keyNumber: number, hash: string, fromInclusive: number): number {
    if (!this.has(keyNumber, hash, fromInclusive)) return 0;
    return find(this.#keys.get(keyNumber), hash)?.unsent ?? 0;
  }

  /** Returns the number of bytes that were subtracted. */
  send(keyNumber: number, hash: string, bytes: number): number {
    const charges = find(this.#keys.get(keyNumber), hash);
    if (!charges) return 0;
    const sent = Math.min(bytes, charges.unsent);
    charges.unsent -= sent;
    return sent;
  }

  /** Returns false if there is no charge of this time. */
  delete(keyNumber: number, hash: string, at: number): boolean {
    const charges = find(this.#keys.get(keyNumber), hash);
    if (charges === undefined || !deleteCharge(charges, at - this.startedAt)) return false;
    if (charges.lastCount === 0) charges.unsent = 0;
    return true;
  }

  /** Removes the key's hashes. Returns a generation of these hashes only. */
  remove(keyNumber: number): Generation {
    const ofKey = this.#keys.get(keyNumber);
    this.#keys.set(keyNumber, undefined);
    this.#size -= sizeOf(ofKey);
    return new Generation(this.startedAt, new Map([[keyNumber, ofKey]]));
  }
}

const find = (ofKey: KeyCharges | undefined, hash: string): Charges | undefined => {
  if (ofKey instanceof Map) return ofKey.get(hash);
  return ofKey?.hash === hash ? ofKey : undefined;
};

const sizeOf = (ofKey: KeyCharges | undefined): number => {
  if (ofKey instanceof Map) return ofKey.size;
  return ofKey ? 1 : 0;
};

const mapOf = (...ofKey: readonly Charges[]): Map<string, Charges> =>
  new Map(ofKey.map((charges) => [charges.hash, charges]));

const addCharge = (charges: Charges, at: number): void => {
  if (charges.lastCount === 0 || at > charges.last) {
    charges.earlier = charges.last;
    charges.earlierCount = charges.lastCount;
    charges.last = at;
    charges.lastCount = 1;
  } else if (at === charges.last) charges.lastCount += 1;
  else if (charges.earlierCount === 0 || at > charges.earlier) {
    charges.earlier = at;
    charges.earlierCount = 1;
  } else if (at === charges.earlier) charges.earlierCount += 1;
};

/**
 * Returns false if there is no charge of this time. A hash without a charge stays in the
 * generation, so its size does not change.
 */
const deleteCharge = (charges: Charges, at: number): boolean => {
  if (charges.lastCount > 0 && at === charges.last) {
    charges.lastCount -= 1;
    if (charges.lastCount > 0) return true;
    charges.last = charges.earlier;
    charges.lastCount = charges.earlierCount;
    charges.earlierCount = 0;
    return true;
  }
  if (charges.earlierCount === 0 || at !== charges.earlier) return false;
  charges.earlierCount -= 1;
  return true;
};
