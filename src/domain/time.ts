/** An instant by a clock that tells the time of day: milliseconds since the Unix epoch. */
export type EpochMs = number;
