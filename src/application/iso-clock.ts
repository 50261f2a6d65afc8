/** The clock in ISO 8601, UTC. Under load many requests share a millisecond, and so its text, which is dear to make. */
export const isoClock = (clock: () => number): (() => string) => {
  let time = Number.NaN;
  let text = "";
  return () => {
    const now = clock();
    if (now !== time) [time, text] = [now, new Date(now).toISOString()];
    return text;
  };
};
