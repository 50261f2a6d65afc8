import { queues } from "../../limits/queues.ts";

const megabyte = 1024 * 1024;

/** Limits of the audio pipeline; times in milliseconds, sizes in bytes. */
export const pipelineLimits = {
  /** Until the first bytes of audio exist, fallbacks and queues included. */
  beginMs: 60_000,
  /**
   * Until all of the audio exists. Clients of OpenAI's and other speech APIs wait for ten
   * minutes.
   */
  completeMs: 10 * 60_000,
  audioBytes: 64 * megabyte,
  /**
   * How far streamed audio is read ahead of its fastest reader. The longest text in mp3 is 3 MB at
   * the normal rate, so that slow clients do not block its encoder.
   */
  readAheadBytes: 4 * megabyte,
  /** Concurrent lookups and syntheses. */
  inFlight: queues.syntheses.concurrency,
  /** Concurrent syntheses started by one API key. */
  inFlightPerKey: queues.syntheses.concurrencyPerKey,
  /** How long a failed synthesis is not repeated. */
  failureMs: 3000,
  /**
   * Concurrent reads of objects by URL, which anyone may request: they must not displace syntheses.
   * Others wait.
   */
  audioReads: 16,
  /** Such a read takes this much at once: 16 seconds of mp3. */
  partBytes: 128 * 1024,
  /** Deadline of one read from the store. */
  readMs: 2000,
  /** The threshold of the circuit breaker around reads. */
  readFailureThreshold: 3,
  readResetMs: 5000,
  /** Deadline of one write to the store, and how long it is retried. */
  writeMs: 30_000,
  retryMs: 15 * 60_000,
  writesAtOnce: 4,
  /** How long a response that must have the stored bytes waits for their write. */
  keptMs: 1000,
  pendingBytes: 128 * megabyte,
};

export type PipelineLimits = Readonly<typeof pipelineLimits>;
