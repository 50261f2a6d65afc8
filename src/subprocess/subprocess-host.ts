import { type Claim, createClaim } from "../async/claim.ts";
import { untilAborted, withDeadline } from "../async/deadline.ts";
import { createFairSemaphore, type FairSemaphore } from "../async/fair-semaphore.ts";
import { Unavailable } from "../domain/errors.ts";
import { encodedFormats, formats } from "../domain/synthesis/formats.ts";
import type { EncoderSpec, HostOptions, JobSpec, Limits, ToolSpec } from "./protocol.ts";
import { superviseHostProcess } from "./supervisor.ts";
import { ToolFailed, type ToolVersions } from "./tools.ts";

export type ToolJob = Omit<ToolSpec, "type" | "lowPriority" | keyof Limits> &
  Partial<Limits> & { readonly input: string };
export type EncoderJob = Omit<EncoderSpec, "type" | keyof Limits> &
  Partial<Limits> & { readonly input: AsyncIterable<Buffer> };

/** How a job gets its slot. */
export interface SlotOptions {
  /** Whose queues it waits in. Without it, a queue of its own. */
  readonly claim?: Claim | undefined;
  /** It belongs to a sound that has begun: it goes before what the same key begins, and is not refused. */
  readonly isContinuation?: boolean;
  /** Called when the job has its slot, before its tool is started; what it throws is what the reading throws. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

/**
 * Runs the local tools, all of them from one helper process. Both verbs give bytes as they come, never end well
 * without any, and hold a slot from the first read until the tool's process is gone; a job's time begins with its slot. Read what they give to its end, or
 * abort: an abort kills the tool at once, and the reading throws the signal's reason.
 * @throws {ToolFailed} the tool failed, or the helper process died (the next job has a new one)
 * @throws {Unavailable} the key's queue is full, the turn does not come in time, or the host is closed
 */
export interface SubprocessHost {
  /** Of the tools that were found when it was opened. */
  readonly versions: ToolVersions;
  run(job: ToolJob, signal: AbortSignal, turn?: SlotOptions): AsyncIterable<Buffer>;
  encode(job: EncoderJob, signal: AbortSignal, turn?: SlotOptions): AsyncIterable<Buffer>;
  /** For texts that are long to prepare. @throws {Unavailable} if `run` would refuse the claim now */
  requireCapacity(claim: Claim): void;
  /** Answers when the helper process can be worked with. @throws {ToolFailed} it does not answer {Unavailable} */
  ping(): Promise<void>;
  stats(): HostStats;
  /** Ends everything: what is in flight fails with {Unavailable}. */
  close(): Promise<void>;
}

export interface HostStats {
  readonly running: number;
  readonly queued: number;
  /** How often the helper process was started again. */
  readonly restarts: number;
  /** The helper's process id; undefined while there is none. */
  readonly pid: number | undefined;
}

export interface SubprocessHostOptions {
  /**
   * Speech tools at once. Default 4. Of several, one is left for others than the API key that has all the rest. Encoders:
   * four times as many, because one belongs to a sound from its beginning to its end, and mostly waits.
   */
  readonly concurrency?: number;
  /** How many more may wait to begin. Default 1000. */
  readonly queueLimit?: number;
  /** How many of one API key. Default 16. */
  readonly queueLimitPerKey?: number;
  /** So long one waits for a slot. Default 10 s. */
  readonly queueTimeoutMs?: number;
  /** So long after a job's deadline the helper must have ended it, or is ended itself. Default 5 s. */
  readonly graceMs?: number;
  /** Told in a sentence that the helper process has ended by itself. */
  readonly warn?: (sentence: string) => void;
  /** Idle encoder processes per format. Default: as in the table of formats. */
  readonly encodersAhead?: HostOptions["encodersAhead"];
  /** Where the tools are looked for, as in PATH. Default: the usual places. */
  readonly path?: string;
}

/** Shorter than whoever asks for the service's health is ready to wait. */
const pingMs = 1500;

const idleEncoders = Object.fromEntries(
  encodedFormats.map((format) => [format, formats[format].encoder.idle]),
);

const deathNote = "The process that runs the speech tools has ended: the next use starts another.";

const defaults: Limits = { deadlineMs: 30_000, maxOutputBytes: 64 * 1024 * 1024 };

/** @throws {ToolFailed} when the helper process does not start */
export const openSubprocessHost = async (options: SubprocessHostOptions = {}): Promise<SubprocessHost> => {
  const { concurrency = 4, encodersAhead = idleEncoders } = options;
  const { queueLimit = 1000, queueLimitPerKey = 16 } = options;
  const { path = "/usr/local/bin:/usr/bin:/bin", queueTimeoutMs = 10_000, graceMs = 5000, warn } = options;
  const helper = superviseHostProcess({ path, encodersAhead }, () => warn?.(deathNote));
  const { versions } = await helper.current();
  const queues = { queueLimit, queueLimitPerKey, queueTimeoutMs, overloaded };
  const tools = createFairSemaphore({
    concurrency,
    concurrencyPerKey: Math.max(1, concurrency - 1),
    ...queues,
  });
  const encoders = createFairSemaphore({
    concurrency: 4 * concurrency,
    concurrencyPerKey: concurrency,
    ...queues,
  });
  const closing = new AbortController();

  /** The slot is given back when the process is gone, not when its reader is. */
  async function* work(
    slots: FairSemaphore,
    order: JobSpec,
    input: AsyncIterable<Buffer>,
    wanted: AbortSignal,
    { claim = createClaim(), isContinuation = false, beforeStart }: SlotOptions = {},
  ) {
    const signal = AbortSignal.any([wanted, closing.signal]);
    const release = await slots.acquire(claim, signal, { isContinuation });
    let settled = Promise.resolve();
    try {
      await beforeStart?.();
      const host = await untilAborted(helper.current(), signal);
      const job = host.start(order, input, signal);
      // It keeps the deadlines itself; one that stands still keeps none, and would keep its jobs for ever.
      const overdue = setTimeout(host.kill, order.deadlineMs + graceMs);
      settled = job.settled.finally(() => clearTimeout(overdue));
      yield* job.output;
    } finally {
      void settled.then(release);
    }
  }

  return {
    versions,
    run: ({ input, ...job }, signal, turn) =>
      work(
        tools,
        { ...defaults, ...job, type: "tool", lowPriority: turn?.isContinuation ?? false },
        once(input),
        signal,
        turn,
      ),
    encode: ({ input, ...job }, signal, turn) =>
      work(encoders, { ...defaults, ...job, type: "encoder" }, input, signal, turn),
    requireCapacity: tools.requireCapacity,
    ping: async () => {
      const onTimeout = () => new ToolFailed("helper", "The process of the speech tools does not respond.");
      await withDeadline({ ms: pingMs, onTimeout }, async () => (await helper.current()).ping());
    },
    stats: () => ({
      running: tools.running() + encoders.running(),
      queued: tools.queued() + encoders.queued(),
      ...helper.stats(),
    }),
    close: () => {
      closing.abort(new Unavailable("The service is shutting down.", 1));
      return helper.close();
    },
  };
};

const overloaded = (scope: "all" | "key"): Unavailable =>
  scope === "all"
    ? new Unavailable("Too many speech syntheses are running.", 1)
    : new Unavailable("Too many speech syntheses of this API key are waiting.", 2);

async function* once(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(text);
}
