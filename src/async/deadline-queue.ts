import { type Clock, systemClock } from "./clock.ts";

/** Those who wait, each for at most as long, the first come first. */
export interface WaitingLine<T extends object> {
  join(one: T): void;
  /** False when it does not wait any more. */
  leave(one: T): boolean;
  has(one: T): boolean;
  readonly size: number;
  /** Resolves when nobody waits any more. */
  empty(): Promise<void>;
}

/**
 * One timer does for all: who came first is overdue first. Time is monotonic, so that nobody waits longer, or is sent
 * away, because a wall clock was set.
 */
export const createWaitingLine = <T extends object>(
  patienceMs: number,
  onOverdue: (one: T) => void,
  clock: Clock = systemClock,
): WaitingLine<T> => {
  const line = new Map<T, number>();
  const watching: (() => void)[] = [];
  let stopTimer: (() => void) | undefined;

  const leave = (one: T): boolean => {
    if (!line.delete(one)) return false;
    if (line.size > 0) return true;
    stopTimer?.();
    stopTimer = undefined;
    for (const resolve of watching.splice(0)) resolve();
    return true;
  };

  const watch = (until: number): void => {
    stopTimer ??= clock.after(Math.max(1, Math.ceil(until - clock.now())), sendAway);
  };

  const sendAway = (): void => {
    stopTimer = undefined;
    const now = clock.now();
    for (const [one, until] of line) {
      if (until > now) {
        watch(until);
        return;
      }
      leave(one);
      onOverdue(one);
    }
  };

  return {
    join: (one) => {
      const until = clock.now() + patienceMs;
      line.set(one, until);
      watch(until);
    },
    leave,
    has: (one) => line.has(one),
    get size() {
      return line.size;
    },
    empty: () => (line.size === 0 ? Promise.resolve() : new Promise((resolve) => watching.push(resolve))),
  };
};
