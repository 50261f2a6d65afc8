import type { Time } from "../time.ts";

/** The time for which a slot is held. */
const holdMs = 1_000;

/** Limits the memory. A further key is refused without a slot being held for it. */
const maxKeys = 1_000;

/**
 * Holds slots of a queue for keys that were refused. Otherwise other clients could take the place
 * of a key that obeys `Retry-After`. Each key has at most one slot. Only this key can take it, from
 * the time at which it may try again.
 */
export class HeldSlots {
  readonly #retryAfterMs: number;
  readonly #time: Pick<Time, "now">;
  /** The times from which the slots are held, the earliest first. */
  readonly #from = new Map<string, number>();

  constructor(retryAfterMs: number, time: Pick<Time, "now">) {
    this.#retryAfterMs = retryAfterMs;
    this.#time = time;
  }

  /** Holds a slot for each of the keys for which none is held. */
  hold(keys: ReadonlySet<string>): void {
    this.#release();
    for (const key of keys)
      if (!this.#from.has(key) && this.#from.size < maxKeys)
        this.#from.set(key, this.#time.now() + this.#retryAfterMs);
  }

  /** True if a slot is held for one of the keys now. */
  has(keys: ReadonlySet<string>): boolean {
    return this.#find(keys) !== undefined;
  }

  /** Takes the slot of one of the keys. Returns the key; undefined if no slot is held for them. */
  take(keys: ReadonlySet<string>): string | undefined {
    const key = this.#find(keys);
    if (key !== undefined) this.#from.delete(key);
    return key;
  }

  #find(keys: ReadonlySet<string>): string | undefined {
    if (this.#from.size === 0) return undefined;
    this.#release();
    const now = this.#time.now();
    return [...keys].find((key) => (this.#from.get(key) ?? Number.POSITIVE_INFINITY) <= now);
  }

  /** Releases the slots that were held for long enough. */
  #release(): void {
    const ended = this.#time.now() - holdMs;
    for (const [key, from] of this.#from) {
      if (from > ended) return;
      this.#from.delete(key);
    }
  }
}
