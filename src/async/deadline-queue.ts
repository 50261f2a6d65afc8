import { type Clock, systemClock } from "./clock.ts";

export type DeadlineQueue<T extends object> = ReturnType<typeof createDeadlineQueue<T>>;

/**
 * A set of items that all expire after the same time, in the order in which they were added. Uses one timer for all
 * items: the oldest expires first.
 */
export const createDeadlineQueue = <T extends object>(
  timeoutMs: number,
  onExpired: (item: T) => void,
  clock: Clock = systemClock,
) => {
  const deadlines = new Map<T, number>();
  const drainListeners: (() => void)[] = [];
  let stopTimer: (() => void) | undefined;

  const remove = (item: T): boolean => {
    if (!deadlines.delete(item)) return false;
    if (deadlines.size > 0) return true;
    stopTimer?.();
    stopTimer = undefined;
    for (const resolve of drainListeners.splice(0)) resolve();
    return true;
  };

  const startTimer = (deadline: number): void => {
    stopTimer ??= clock.after(Math.max(1, Math.ceil(deadline - clock.now())), expireDue);
  };

  const expireDue = (): void => {
    stopTimer = undefined;
    const now = clock.now();
    for (const [item, deadline] of deadlines) {
      if (deadline > now) {
        startTimer(deadline);
        return;
      }
      remove(item);
      onExpired(item);
    }
  };

  return {
    add: (item: T): void => {
      const deadline = clock.now() + timeoutMs;
      deadlines.set(item, deadline);
      startTimer(deadline);
    },
    /** False if the item has expired or was deleted before. */
    delete: remove,
    has: (item: T): boolean => deadlines.has(item),
    get size(): number {
      return deadlines.size;
    },
    /** Resolves when the queue is empty. */
    drained: (): Promise<void> =>
      deadlines.size === 0 ? Promise.resolve() : new Promise((resolve) => drainListeners.push(resolve)),
  };
};
