/**
 * Returns a clock that gives the time as text, in ISO 8601 and UTC. It formats each millisecond
 * once: formatting is expensive, and under load many requests share a millisecond.
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
