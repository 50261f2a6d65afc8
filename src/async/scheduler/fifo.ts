/** A queue from which any item can be deleted. All operations take O(1), amortised. */
export interface Fifo<T> {
  add(item: T): void;
  delete(item: T): boolean;
  peek(): T | undefined;
  readonly size: number;
}

/**
 * A Set's new iterator walks over deleted entries until the Set is rehashed, which makes removal from the front quadratic:
 * so one iterator is kept. */
export const createFifo = <T>(): Fifo<T> => {
  const items = new Set<T>();
  let iterator = items.values();
  let head: T | undefined;

  const peek = (): T | undefined => {
    if (head !== undefined && items.has(head)) return head;
    if (items.size === 0) return undefined;
    let next = iterator.next();
    if (next.done) {
      iterator = items.values();
      next = iterator.next();
    }
    head = next.value;
    return head;
  };

  return {
    add: (item) => void items.add(item),
    delete: (item) => items.delete(item),
    peek,
    get size() {
      return items.size;
    },
  };
};
