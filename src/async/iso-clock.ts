/**
 * The clock in ISO 8601, UTC. Formatting is expensive; under load many requests share a millisecond
 * and its text.
 */
export const isoClock = (clock: () => number): (() => string) => {
  let time = Number.NaN;
  let text = "";
  return () => {
    const now = clock();
    if (now !== time) [time, text] = [now, new Date(now).toISOString()];
    return text;
  };
};
