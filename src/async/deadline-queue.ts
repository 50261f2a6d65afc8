import { systemTime, type Time } from "./time.ts";

export type DeadlineQueue<T extends Queued<T>> = ReturnType<typeof createDeadlineQueue<T>>;

/** An item that can be in one queue at a time. */
export interface Queued<T> {
  /**
   * The queue's reference to the item's node; undefined outside of a queue. A copy of the item must
   * not have it.
   */
  queueNode: QueueNode<T> | undefined;
}

interface QueueNode<T> {
  readonly item: T;
  readonly deadline: number;
  previous: QueueNode<T> | undefined;
  next: QueueNode<T> | undefined;
}

/**
 * A set of items that all expire after the same time, in the order in which they were added. Uses
 * one timer for all items: the oldest expires first.
 *
 * It is a linked list, not a `Map`: V8 replaces the table of a `Map` after some hundred additions,
 * and a replaced table still refers to the items that it held and to its successor. So once a table
 * belongs to the old generation, every minor garbage collection would keep all later tables and
 * their items.
 */
export const createDeadlineQueue = <T extends Queued<T>>(
  timeoutMs: number,
  onExpired: (item: T) => void,
  time: Time = systemTime,
) => {
  let first: QueueNode<T> | undefined;
  let last: QueueNode<T> | undefined;
  let size = 0;
  const drainListeners: (() => void)[] = [];
  let stopTimer: (() => void) | undefined;

  const unlink = (queueNode: QueueNode<T>): void => {
    const { previous, next } = queueNode;
    if (previous) previous.next = next;
    else first = next;
    if (next) next.previous = previous;
    else last = previous;
    // A node of the old generation must not keep younger nodes from being collected.
    queueNode.previous = undefined;
    queueNode.next = undefined;
  };

  const remove = (item: T): boolean => {
    if (!item.queueNode) return false;
    unlink(item.queueNode);
    item.queueNode = undefined;
    size -= 1;
    if (size > 0) return true;
    stopTimer?.();
    stopTimer = undefined;
    for (const resolve of drainListeners.splice(0)) resolve();
    return true;
  };

  const startTimer = (deadline: number): void => {
    stopTimer ??= time.after(Math.max(1, Math.ceil(deadline - time.now())), expireDue);
  };

  const expireDue = (): void => {
    stopTimer = undefined;
    const now = time.now();
    try {
      while (first && first.deadline <= now) {
        const { item } = first;
        remove(item);
        onExpired(item);
      }
    } finally {
      if (first) startTimer(first.deadline);
    }
  };

  return {
    /** @throws if the item is in a queue */
    add: (item: T): void => {
      if (item.queueNode) throw new Error("The item is in a queue already.");
      const queueNode = { item, deadline: time.now() + timeoutMs, previous: last, next: undefined };
      if (last) last.next = queueNode;
      else first = queueNode;
      last = queueNode;
      item.queueNode = queueNode;
      size += 1;
      // Otherwise the timer of an older item runs, or `expireDue` starts it.
      if (size === 1) startTimer(queueNode.deadline);
    },
    /** Returns false if the item has expired or was deleted before. */
    delete: remove,
    has: (item: T): boolean => item.queueNode !== undefined,
    get size(): number {
      return size;
    },
    /** Resolves when the queue is empty. */
    drained: (): Promise<void> =>
      size === 0 ? Promise.resolve() : new Promise((resolve) => drainListeners.push(resolve)),
  };
};
