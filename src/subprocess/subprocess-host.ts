import { type Claim, createClaim } from "../async/claim.ts";
import { untilAborted, withDeadline } from "../async/deadline.ts";
import { createFairSemaphore, type FairSemaphore } from "../async/fair-semaphore.ts";
import { Unavailable } from "../domain/errors.ts";
import { encodedFormats, formats } from "../domain/synthesis/formats.ts";
import type { EncoderSpec, HostOptions, JobSpec, Limits, ToolSpec } from "./protocol.ts";
import { type HostSupervisor, superviseHostProcess } from "./supervisor.ts";
import { ToolFailed, type ToolVersions } from "./tools.ts";

export type ToolJob = Omit<ToolSpec, "type" | "lowPriority" | keyof Limits> &
  Partial<Limits> & { readonly input: string };
export type EncoderJob = Omit<EncoderSpec, "type" | keyof Limits> &
  Partial<Limits> & { readonly input: AsyncIterable<Buffer> };

/** How a job gets its slot. */
export interface SlotOptions {
  /** The API keys in whose queues it waits. Default: a queue of its own. */
  readonly claim?: Claim | undefined;
  /** Belongs to a sound that has begun: goes before new work of the same key, and is not refused. */
  readonly isContinuation?: boolean;
  /** Called when the job has its slot, before its tool is started. If it throws, the output throws the same. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

/**
 * Runs the local tools in one helper process. Output arrives as it is produced and is never empty without an error. A
 * job holds a slot from the first read until its process has exited; its deadline starts with the slot. Read the
 * output to its end, or abort: an abort kills the tool at once, and the output throws the signal's reason. @throws
 * {ToolFailed} the tool failed, or the helper process died (the next job gets a new one) @throws {Unavailable} the
 * queue is full, no slot in time, or the host is closed
 */
export interface SubprocessHost {
  /** Versions of the tools found at the start. */
  readonly versions: ToolVersions;
  run(job: ToolJob, signal: AbortSignal, turn?: SlotOptions): AsyncIterable<Buffer>;
  encode(job: EncoderJob, signal: AbortSignal, turn?: SlotOptions): AsyncIterable<Buffer>;
  /** For expensive preparations. @throws {Unavailable} if `run` would refuse the claim now */
  requireCapacity(claim: Claim): void;
  /** Resolves if the helper process responds. @throws {ToolFailed} {Unavailable} */
  ping(): Promise<void>;
  stats(): HostStats;
  /** Ends everything: running jobs fail with {Unavailable}. */
  close(): Promise<void>;
}

export interface HostStats {
  readonly running: number;
  readonly queued: number;
  /** Restarts of the helper process. */
  readonly restarts: number;
  /** Process id of the helper; undefined while there is none. */
  readonly pid: number | undefined;
}

export interface SubprocessHostOptions {
  /**
   * Concurrent speech tools. Default 4. One API key may use all but one of them. Encoders: four times as many, because
   * one lives as long as its sound and mostly waits.
   */
  readonly concurrency?: number;
  /** Waiting jobs. Default 1000. */
  readonly queueLimit?: number;
  /** Waiting jobs of one API key. Default 16. */
  readonly queueLimitPerKey?: number;
  /** Longest wait for a slot. Default 10 s. */
  readonly queueTimeoutMs?: number;
  /** The helper is killed if it has not ended a job this long after its deadline. Default 5 s. */
  readonly graceMs?: number;
  /** Called when the helper process ended unexpectedly. */
  readonly warn?: (sentence: string) => void;
  /** Idle encoder processes per format. Default: as in the table of formats. */
  readonly encodersAhead?: HostOptions["encodersAhead"];
  /** PATH of the tools. Default: the usual directories. */
  readonly path?: string;
}

/** Shorter than the timeout of health checks. */
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
  const context = { helper, closing: closing.signal, graceMs };

  return {
    versions,
    run: ({ input, ...job }, signal, turn) =>
      runInSlot(
        context,
        tools,
        { ...defaults, ...job, type: "tool", lowPriority: turn?.isContinuation ?? false },
        once(input),
        signal,
        turn,
      ),
    encode: ({ input, ...job }, signal, turn) =>
      runInSlot(context, encoders, { ...defaults, ...job, type: "encoder" }, input, signal, turn),
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

interface HostContext {
  readonly helper: HostSupervisor;
  readonly closing: AbortSignal;
  readonly graceMs: number;
}

/** The slot is released when the process has exited, not when its reader leaves. */
async function* runInSlot(
  { helper, closing, graceMs }: HostContext,
  slots: FairSemaphore,
  order: JobSpec,
  input: AsyncIterable<Buffer>,
  wanted: AbortSignal,
  { claim = createClaim(), isContinuation = false, beforeStart }: SlotOptions = {},
) {
  const signal = AbortSignal.any([wanted, closing]);
  const release = await slots.acquire(claim, signal, { isContinuation });
  let settled = Promise.resolve();
  try {
    await beforeStart?.();
    const host = await untilAborted(helper.current(), signal);
    const job = host.start(order, input, signal);
    // The helper enforces deadlines itself; a frozen one does not.
    const overdue = setTimeout(host.kill, order.deadlineMs + graceMs);
    settled = job.settled.finally(() => clearTimeout(overdue));
    yield* job.output;
  } finally {
    void settled.then(release);
  }
}

const overloaded = (scope: "all" | "key"): Unavailable =>
  scope === "all"
    ? new Unavailable("Too many speech syntheses are running.", 1)
    : new Unavailable("Too many speech syntheses of this API key are waiting.", 2);

async function* once(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(text);
}
