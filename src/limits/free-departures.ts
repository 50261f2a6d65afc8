const perMinute = 10;
const minuteMs = 60_000;

export type FreeDepartures = ReturnType<typeof createFreeDepartures>;

/**
 * Limits the requests of a key that are not charged because their client left before the first
 * byte, or nothing could be heard of their text, although an engine had worked or the serving was
 * recorded. Each instance counts for itself, in fixed minutes of `clock`, which returns
 * milliseconds.
 */
export const createFreeDepartures = (clock: () => number) => {
  let minute = Number.NaN;
  const departures = new Map<string, number>();
  return {
    /** Counts a departure and returns true, or returns false if the key has had its ten in this minute. */
    tryAcquire: (apiKey: string): boolean => {
      const current = Math.floor(clock() / minuteMs);
      if (current !== minute) departures.clear();
      minute = current;
      const count = departures.get(apiKey) ?? 0;
      if (count >= perMinute) return false;
      departures.set(apiKey, count + 1);
      return true;
    },
  };
};
