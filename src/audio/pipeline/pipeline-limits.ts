/** The bounds of the way from a recipe to its bytes; times in milliseconds, sizes in bytes. */
export interface PipelineLimits {
  /** So long anybody waits for a sound, fallbacks and queues included. */
  readonly obtainMs: number;
  readonly objectBytes: number;
  /**
   * How far a sound that is heard while it is made is read ahead of the listener who has read most of it. The longest text in
   * mp3 is 3 MB, so that listeners who take their time do not hold its encoder.
   */
  readonly readAheadBytes: number;
  /** Sounds being looked up or made at once. */
  readonly underWay: number;
  /** Sounds being made at once that one API key has asked for first. */
  readonly underWayPerKey: number;
  /** How long a failed synthesis is not tried again. */
  readonly failureMs: number;
  /** Objects being fetched at once: by anybody, who must not take the room of those who want to hear something. */
  readonly fetching: number;
  /** One read from the store. */
  readonly readMs: number;
  /** Of the circuit breaker around reads. */
  readonly readFailureThreshold: number;
  readonly readResetMs: number;
  /** One write to the store, and how long it is tried again. */
  readonly writeMs: number;
  readonly retryMs: number;
  readonly writesAtOnce: number;
  readonly pendingBytes: number;
}

const megabyte = 1024 * 1024;

export const pipelineLimits: PipelineLimits = {
  obtainMs: 60_000,
  objectBytes: 64 * megabyte,
  readAheadBytes: 4 * megabyte,
  underWay: 1000,
  underWayPerKey: 100,
  failureMs: 3000,
  fetching: 100,
  readMs: 2000,
  readFailureThreshold: 3,
  readResetMs: 5000,
  writeMs: 30_000,
  retryMs: 15 * 60_000,
  writesAtOnce: 4,
  pendingBytes: 128 * megabyte,
};
