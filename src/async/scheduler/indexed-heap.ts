/** A binary heap whose items can be moved and deleted. All operations but `peek` take O(log n). */
export class IndexedHeap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** Inserts the item, or moves it after its order has changed. */
  put(item: T): void {
    this.#sink(item, this.#rise(item, this.#positions.get(item) ?? this.size));
  }

  /** Returns false if the heap does not contain the item. */
  delete(item: T): boolean {
    const at = this.#positions.get(item);
    if (at === undefined) return false;
    this.#positions.delete(item);
    const last = this.#items.pop() as T;
    if (at < this.size) this.#sink(last, this.#rise(last, at));
    return true;
  }

  #set(item: T, at: number): void {
    this.#items[at] = item;
    this.#positions.set(item, at);
  }

  /** Moves the item up from a position as far as its order allows. Returns its new position. */
  #rise(item: T, from: number): number {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above] as T;
      if (!this.#isBefore(item, parent)) break;
      this.#set(parent, at);
      at = above;
    }
    this.#set(item, at);
    return at;
  }

  #sink(item: T, from: number): void {
    const items = this.#items;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) break;
      const right = left + 1;
      const isRight = right < items.length && this.#isBefore(items[right] as T, items[left] as T);
      const below = isRight ? right : left;
      const child = items[below] as T;
      if (!this.#isBefore(child, item)) break;
      this.#set(child, at);
      at = below;
    }
    this.#set(item, at);
  }
}
