interface Append {
  readonly position: number;
  readonly time: number;
}

export type Lag = ReturnType<typeof createLag>;

/**
 * Measures for how long the views have lacked an event of the log. Keeps only two appends: the
 * first that the views may lack, and the last one. When the views have passed the first, the last
 * one takes its place. So the lag may be underestimated, but never overestimated.
 */
export const createLag = (time: Pick<typeof performance, "now">) => {
  let first: Append | undefined;
  let last: Append | undefined;
  let lostAt: number | undefined;
  return {
    /** Called when the log has an event at this position. */
    appended: (position: number): void => {
      last = { position, time: time.now() };
      first ??= last;
    },
    /** Called when the subscription has ended. */
    lost: (): void => {
      lostAt ??= time.now();
    },
    /** Called when the subscription has reached the log's end. */
    caughtUp: (): void => {
      lostAt = undefined;
    },
    /** The lag of views at this position, in milliseconds. */
    at: (position: number): number => {
      if (first && first.position <= position) first = last && last.position > position ? last : undefined;
      if (!first && lostAt === undefined) return 0;
      return (
        time.now() - Math.min(first?.time ?? Number.POSITIVE_INFINITY, lostAt ?? Number.POSITIVE_INFINITY)
      );
    },
  };
};
