/** Limits of the audio pipeline; times in milliseconds, sizes in bytes. */
export interface PipelineLimits {
  /** Deadline of a sound, fallbacks and queues included. */
  readonly obtainMs: number;
  readonly objectBytes: number;
  /**
   * How far a streamed sound is read ahead of its fastest reader. The longest text in mp3 is 3 MB, so that slow
   * clients do not block its encoder.
   */
  readonly readAheadBytes: number;
  /** Concurrent lookups and syntheses. */
  readonly inFlight: number;
  /** Concurrent syntheses started by one API key. */
  readonly inFlightPerKey: number;
  /** How long a failed synthesis is not repeated. */
  readonly failureMs: number;
  /** Concurrent reads of objects by URL, which anyone may request: they must not displace syntheses. */
  readonly objectReads: number;
  /** Deadline of one read from the store. */
  readonly readMs: number;
  /** Of the circuit breaker around reads. */
  readonly readFailureThreshold: number;
  readonly readResetMs: number;
  /** Deadline of one write to the store, and how long it is retried. */
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
  inFlight: 1000,
  inFlightPerKey: 100,
  failureMs: 3000,
  objectReads: 100,
  readMs: 2000,
  readFailureThreshold: 3,
  readResetMs: 5000,
  writeMs: 30_000,
  retryMs: 15 * 60_000,
  writesAtOnce: 4,
  pendingBytes: 128 * megabyte,
};
