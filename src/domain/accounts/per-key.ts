/**
 * One value per key, by the key's number (`key-numbers.ts`). On the path of each request, because
 * with 100,000 active keys nearly each look-up of a key in a map reads memory that no cache holds,
 * several times.
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

/** As `PerKey`, for numbers, which are 0 at first. */
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
