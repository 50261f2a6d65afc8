/** A binary heap whose items can be moved and deleted. All operations but `peek` take O(log n). */
export interface IndexedHeap<T> {
  /** The first item. */
  peek(): T | undefined;
  /** Inserts the item, or moves it after its order has changed. */
  put(item: T): void;
  /** Returns false if it is not there. */
  delete(item: T): boolean;
  readonly size: number;
}

export const createIndexedHeap = <T>(isBefore: (one: T, other: T) => boolean): IndexedHeap<T> => {
  const items: T[] = [];
  const positions = new Map<T, number>();

  const place = (item: T, at: number): void => {
    items[at] = item;
    positions.set(item, at);
  };

  /** Moves the item up from a position as far as its order allows. Returns its new position. */
  const rise = (item: T, from: number): number => {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!isBefore(item, parent)) break;
      place(parent, at);
      at = above;
    }
    place(item, at);
    return at;
  };

  const sink = (item: T, from: number): void => {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) break;
      const right = left + 1;
      const isRight = right < items.length && isBefore(items[right] as T, items[left] as T);
      const below = isRight ? right : left;
      const child = items[below] as T;
      if (!isBefore(child, item)) break;
      place(child, at);
      at = below;
    }
    place(item, at);
  };

  return {
    peek: () => items[0],
    put: (item) => sink(item, rise(item, positions.get(item) ?? items.length)),
    delete: (item) => {
      const at = positions.get(item);
      if (at === undefined) return false;
      positions.delete(item);
      const last = items.pop() as T;
      if (at < items.length) sink(last, rise(last, at));
      return true;
    },
    get size() {
      return items.length;
    },
  };
};
