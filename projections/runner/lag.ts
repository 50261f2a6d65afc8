/** For how long the views have not shown the log as it is. */
export interface Lag {
  /** The log holds an event at this position. */
  appended(position: number): void;
  /** The subscription has broken off. */
  lost(): void;
  /** The subscription has delivered the log as of now. */
  caughtUp(): void;
  /** Milliseconds, for views that have reached this position. */
  at(position: number): number;
}

interface Mark {
  readonly position: number;
  readonly time: number;
}

/**
 * Two marks are enough: the first append that the views may not show yet, and the last. When the views have passed the
 * first, what is missing is no older than the mark that follows it.
 */
export const createLag = (uptime: () => number): Lag => {
  let first: Mark | undefined;
  let last: Mark | undefined;
  let lostAt: number | undefined;
  return {
    appended: (position) => {
      last = { position, time: uptime() };
      first ??= last;
    },
    lost: () => {
      lostAt ??= uptime();
    },
    caughtUp: () => {
      lostAt = undefined;
    },
    at: (position) => {
      if (first && first.position <= position) first = last && last.position > position ? last : undefined;
      if (!first && lostAt === undefined) return 0;
      return uptime() - Math.min(first?.time ?? Number.POSITIVE_INFINITY, lostAt ?? Number.POSITIVE_INFINITY);
    },
  };
};
