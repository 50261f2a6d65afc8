/**
 * A map with string keys that usually has one entry. It stores the first entry without a `Map`: with 100,000 active API keys, a
 * `Map` for each would take 20 MB.
 */
export class SmallMap<V> {
  #firstKey: string | undefined;
  #first: V | undefined;
  #others: Map<string, V> | undefined;

  get size(): number {
    return (this.#firstKey === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  get(key: string): V | undefined {
    return key === this.#firstKey ? this.#first : this.#others?.get(key);
  }

  set(key: string, value: V): void {
    if (this.#firstKey === undefined || key === this.#firstKey) {
      this.#firstKey = key;
      this.#first = value;
    } else {
      this.#others ??= new Map();
      this.#others.set(key, value);
    }
  }

  /** In the order in which the keys were added. */
  *[Symbol.iterator](): Generator<[key: string, value: V], void> {
    if (this.#firstKey === undefined) return;
    yield [this.#firstKey, this.#first as V];
    if (this.#others) yield* this.#others;
  }
}
