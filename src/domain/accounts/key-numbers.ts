const numbers = new Map<string, number>();

/**
 * Returns the key's number in this process; the first one is 0. A number is kept as long as the
 * process runs, so call this only for issued keys.
 */
export const keyNumberOf = (apiKey: string): number => {
  const known = numbers.get(apiKey);
  if (known !== undefined) return known;
  const number = numbers.size;
  numbers.set(apiKey, number);
  return number;
};

/** Returns undefined for a key that has no number yet. */
export const findKeyNumber = (apiKey: string): number | undefined => numbers.get(apiKey);

/**
 * One value per key, in an array by the key's number. A `Map` would be slower: with 100,000 active
 * keys, each look-up in it misses the CPU's caches several times, and a request needs several
 * look-ups.
 */
export class PerKey<T> {
  readonly #values: (T | undefined)[] = [];

  get(keyNumber: number): T | undefined {
    return this.#values[keyNumber];
  }

  set(keyNumber: number, value: T | undefined): void {
    while (this.#values.length <= keyNumber) this.#values.push(undefined);
    this.#values[keyNumber] = value;
  }

  *[Symbol.iterator](): Generator<T, void> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }
}

/** Sums per key. They are 0 at first. */
export class NumberPerKey {
  #values = new Float64Array(1_024);

  get(keyNumber: number): number {
    return this.#values[keyNumber] ?? 0;
  }

  add(keyNumber: number, value: number): void {
    if (keyNumber >= this.#values.length) this.#grow(keyNumber);
    (this.#values[keyNumber] as number) += value;
  }

  #grow(keyNumber: number): void {
    const values = new Float64Array(2 * keyNumber);
    values.set(this.#values);
    this.#values = values;
  }
}
