/**
 * A queue from which any item can be deleted. All operations take O(1), amortised. A Set's new
 * iterator walks over deleted entries until the Set is rehashed, which makes removal from the front
 * quadratic: so one iterator is kept.
 */
export class Fifo<T> {
  readonly #items = new Set<T>();
  #iterator = this.#items.values();
  #head: T | undefined;

  get size(): number {
    return this.#items.size;
  }

  add(item: T): void {
    this.#items.add(item);
  }

  delete(item: T): boolean {
    return this.#items.delete(item);
  }

  peek(): T | undefined {
    if (this.#head !== undefined && this.#items.has(this.#head)) return this.#head;
    if (this.size === 0) return undefined;
    let next = this.#iterator.next();
    if (next.done) {
      this.#iterator = this.#items.values();
      next = this.#iterator.next();
    }
    this.#head = next.value;
    return this.#head;
  }
}
