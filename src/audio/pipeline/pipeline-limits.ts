import { queues } from "../../limits/queues.ts";

const megabyte = 1024 * 1024;

/** Limits of the audio pipeline; times in milliseconds, sizes in bytes. */
export const pipelineLimits = {
  /** The deadline for the first bytes of audio, fallbacks and queues included. */
  beginMs: 60_000,
  /**
   * The deadline for complete audio: clients of OpenAI's and other speech APIs wait for ten
   * minutes.
   */
  completeMs: 10 * 60_000,
  audioBytes: 64 * megabyte,
  /**
   * How far streamed audio is read ahead of its fastest reader. The audio of the longest text takes
   * 3 MB as mp3 at the normal rate, so slow clients do not block its encoder.
   */
  readAheadBytes: 4 * megabyte,
  /** Concurrent lookups and syntheses. */
  inFlight: queues.syntheses.concurrency,
  /** Concurrent syntheses started by one API key. */
  inFlightPerKey: queues.syntheses.concurrencyPerKey,
  /** How long a failed synthesis is not repeated. */
  failureMs: 3000,
  /**
   * Concurrent reads of objects by URL; further reads wait. Anyone may request them, so they must
   * not displace syntheses.
   */
  audioReads: 16,
  /** The size of the parts in which such a read takes an object: 16 seconds of mp3. */
  partBytes: 128 * 1024,
  /** The deadline of one read from the store. */
  readMs: 2000,
  /** The threshold of the circuit breaker around reads. */
  readFailureThreshold: 3,
  readResetMs: 5000,
  /** The deadline of one write to the store. */
  writeMs: 30_000,
  /** How long a write that fails is retried. */
  retryMs: 15 * 60_000,
  writesAtOnce: 4,
  /**
   * How long a response waits for the write of its audio, if it must have the bytes that the store
   * keeps.
   */
  keptMs: 1000,
  /** The limit of the objects that wait to be written: further objects are not stored. */
  pendingBytes: 128 * megabyte,
};

export type PipelineLimits = Readonly<typeof pipelineLimits>;
