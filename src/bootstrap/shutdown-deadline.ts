/**
 * One span of time for all who wait at the end, one after another: it begins with the first who asks what is left of it,
 * in milliseconds.
 */
export const createShutdownDeadline = (ms: number, now = () => performance.now()): (() => number) => {
  let end: number | undefined;
  return () => {
    end ??= now() + ms;
    return Math.max(0, end - now());
  };
};
