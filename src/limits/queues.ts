import type { ResourceOptions, Scope } from "../async/scheduler/resource.ts";
import { KeyOverloaded, Unavailable } from "../domain/errors.ts";

/**
 * The limits of a queue: the slots and the waiting jobs, in total and of one key; how long jobs
 * wait; and the error that refuses further jobs: 503, or 429 if it is their key that has too many.
 */
type Bounds = Omit<ResourceOptions, "time" | "startLimit">;

interface Refusal {
  readonly message: string;
  readonly retryAfterSeconds: number;
}

const refusals = (
  all: Refusal,
  key: Refusal,
): Pick<ResourceOptions, "keyRetryAfterSeconds" | "overloaded"> => ({
  keyRetryAfterSeconds: key.retryAfterSeconds,
  overloaded: (scope: Scope) =>
    scope === "all"
      ? new Unavailable(all.message, all.retryAfterSeconds)
      : new KeyOverloaded(key.message, key.retryAfterSeconds),
});

const inProgress: Refusal = { message: "Too many requests are in progress.", retryAfterSeconds: 1 };

export const tooManyInProgress = (): Unavailable =>
  new Unavailable(inProgress.message, inProgress.retryAfterSeconds);

const ofTools = refusals(
  { message: "Too many speech syntheses are running.", retryAfterSeconds: 1 },
  { message: "Too many speech syntheses of this API key are waiting.", retryAfterSeconds: 2 },
);

/** The refusals of encoders, which may be busy until their clients have read the audio. */
const ofEncoders = refusals(
  { message: "Too many long texts are being spoken.", retryAfterSeconds: 5 },
  { message: "Too many long texts of this API key are waiting.", retryAfterSeconds: 5 },
);

/** The limits of the queues for jobs of the helper process, which all workers share. */
const jobs = {
  isShared: true,
  queueLimit: 1_000,
  queueLimitPerKey: 16,
  queueTimeoutMs: 10_000,
  ...ofTools,
};

const reports = {
  concurrency: 2,
  concurrencyPerKey: 1,
  queueLimit: 200,
  queueLimitPerKey: 4,
  ...refusals(
    { message: "Too many reports are waiting. Try again later.", retryAfterSeconds: 1 },
    { message: "Too many reports of this caller are waiting.", retryAfterSeconds: 1 },
  ),
};

/**
 * The limits of each kind of job. Each API key has its own queue of waiting jobs. `tools`: the
 * setting SYNTHESIS_CONCURRENCY.
 */
export const queues = {
  /** A synthesis starts at once or is refused. */
  syntheses: {
    concurrency: 1_000,
    concurrencyPerKey: 100,
    queueLimit: 0,
    queueLimitPerKey: 0,
    queueTimeoutMs: 0,
    ...refusals(inProgress, {
      message: "Too many syntheses of this API key are running.",
      retryAfterSeconds: 2,
    }),
  },
  speech_tools: (tools: number) => ({ ...jobs, concurrency: tools, reserved: Math.min(1, tools - 1) }),
  /** A short text must not wait for its key's long ones. */
  short_encoders: (tools: number) => ({ ...jobs, concurrency: 2 * tools, concurrencyPerKey: tools }),
  encoders: (tools: number) => ({
    ...jobs,
    concurrency: 3 * tools,
    concurrencyPerKey: tools,
    queueTimeoutMs: 3 * jobs.queueTimeoutMs,
    ...ofEncoders,
  }),
  /** Like an encoder, a decoder may be busy until its client has read the audio. */
  decoders: (tools: number) => ({ ...jobs, concurrency: 3 * tools, concurrencyPerKey: tools }),
  model: (processes: number) => ({ ...jobs, concurrency: processes }),
  /**
   * Requests to a provider with one set of credentials. `reserved`: the slots for keys with few
   * requests, if many keys share a server. One key may then fill only half of the queue.
   */
  provider: ({ concurrency, reserved }: { readonly concurrency: number; readonly reserved: number }) => ({
    concurrency,
    reserved: Math.min(reserved, concurrency - 1),
    queueLimit: 25 * concurrency,
    queueLimitPerKey: reserved > 0 ? 12.5 * concurrency : 25 * concurrency,
    queueTimeoutMs: 15_000,
    ...refusals(
      { message: "Too many requests to the speech provider are waiting.", retryAfterSeconds: 2 },
      {
        message: "Too many requests of this API key to the speech provider are waiting.",
        retryAfterSeconds: 2,
      },
    ),
  }),
  /**
   * A report by hour reads journal events, which also hold servings of other keys. A report just
   * after the start reads the unposted events of all keys. Therefore few run at once, and only one
   * of each key.
   */
  usage_reports: { ...reports, queueTimeoutMs: 5_000 },
  /** A slow report may take 30 seconds, so the next one may wait as long. */
  slow_usage_reports: { ...reports, queueTimeoutMs: 30_000 },
} satisfies Readonly<Record<string, Bounds | ((given: never) => Bounds)>>;
