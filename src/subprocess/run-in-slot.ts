import { untilAborted } from "../async/deadline.ts";
import type { ReservedSlot } from "../async/scheduler/reserved-slot.ts";
import type { AcquireOptions, Resource } from "../async/scheduler/resource.ts";
import { createWaiter, type Waiter } from "../async/scheduler/waiter.ts";
import { tap } from "../async/tap.ts";
import type { Time } from "../async/time.ts";
import type { SpeechEvent } from "./espeak.ts";
import { startJobDeadline } from "./job-deadline.ts";
import type { JobSpec } from "./protocol.ts";
import type { RemoteJob } from "./remote-job.ts";
import type { HostSupervisor } from "./supervisor.ts";

/** How a job gets its slot. */
export interface SlotOptions extends AcquireOptions {
  /** The waiter for the API keys in whose queues the job waits. Default: a queue of its own. */
  readonly waiter?: Waiter | undefined;
  /**
   * Called when the job has its slot, before its tool is started. If it throws, the output throws
   * the same.
   */
  readonly beforeStart?: (() => Promise<void>) | undefined;
  /** Called after the output with the CPU time that the tool took, if it speaks by a library. */
  readonly onCpuTime?: ((cpuMs: number) => void) | undefined;
}

/** Responses of at most this many seconds of speech are urgent: about five sentences. */
const shortSeconds = 15;

export const isShort = (waiter?: Waiter): boolean => (waiter?.seconds ?? 0) <= shortSeconds;

/**
 * True if the process of the job keeps its priority. That of other jobs, which need the processor
 * for longer, is lowered.
 */
export const isUrgent = (options: SlotOptions = {}): boolean =>
  !options.isContinuation && isShort(options.waiter);

export interface HostContext {
  readonly helper: Pick<HostSupervisor, "current">;
  readonly closing: AbortSignal;
  readonly graceMs: number;
  readonly time?: Time;
}

interface JobOptions extends SlotOptions {
  readonly slot?: ReservedSlot | undefined;
  readonly onEvents?: ((events: readonly SpeechEvent[]) => void) | undefined;
}

/**
 * Runs a job once it has a slot. The slot is released when the process has exited, not when the
 * reader leaves or has read the output.
 */
export async function* runInSlot(
  context: HostContext,
  slots: Resource,
  spec: JobSpec,
  input: AsyncIterable<Buffer>,
  wanted: AbortSignal,
  { waiter = createWaiter(), beforeStart, onCpuTime, onEvents, slot, ...options }: JobOptions = {},
) {
  const signal = AbortSignal.any([wanted, context.closing]);
  const release = slot?.take() ?? (await slots.acquire(waiter, signal, options));
  const job = await startJob(context, spec, input, signal, beforeStart).catch((error: unknown) => {
    release();
    throw error;
  });
  void job.settled.then(release);
  yield* job.output;
  const { events, cpuMs } = job.reported();
  if (events) onEvents?.(events);
  if (cpuMs !== undefined) onCpuTime?.(cpuMs);
}

const startJob = async (
  { helper, graceMs, time }: HostContext,
  spec: JobSpec,
  input: AsyncIterable<Buffer>,
  signal: AbortSignal,
  beforeStart: SlotOptions["beforeStart"],
): Promise<RemoteJob> => {
  await beforeStart?.();
  const host = await untilAborted(helper.current(), signal);
  // The helper enforces deadlines itself, but not while it is frozen.
  const overdue = startJobDeadline(spec, () => host.kill(), { graceMs, time });
  const job = host.start(spec, tap(input, { onChunk: overdue.extend }), signal);
  void job.settled.then(overdue.stop);
  return job;
};
