import { untilAborted } from "../async/deadline.ts";
import { type Claim, createClaim } from "../async/scheduler/claim.ts";
import type { ReservedSlot } from "../async/scheduler/reserved-slot.ts";
import type { Resource, Work } from "../async/scheduler/resource.ts";
import type { SpeechEvent } from "./espeak.ts";
import type { JobSpec } from "./protocol.ts";
import type { HostSupervisor } from "./supervisor.ts";

/** How a job gets its slot. */
export interface SlotOptions extends Work {
  /** The API keys in whose queues it waits. Default: a queue of its own. */
  readonly claim?: Claim | undefined;
  /** Called when the job has its slot, before its tool is started. If it throws, the output throws the same. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

/** Answers of at most this many seconds of speech are urgent: about five sentences. */
const shortSeconds = 15;

export const isShort = (claim?: Claim): boolean => (claim?.seconds ?? 0) <= shortSeconds;

/** The processes of other jobs, which need the processor for longer, have a lower priority. */
export const isUrgent = (turn: SlotOptions = {}): boolean => !turn.isContinuation && isShort(turn.claim);

interface HostContext {
  readonly helper: HostSupervisor;
  readonly closing: AbortSignal;
  readonly graceMs: number;
}

interface JobOptions extends SlotOptions {
  readonly slot?: ReservedSlot | undefined;
  readonly onEvents?: ((events: readonly SpeechEvent[]) => void) | undefined;
}

/** The slot is released when the process has exited, not when its reader leaves. */
export async function* runInSlot(
  { helper, closing, graceMs }: HostContext,
  slots: Resource,
  order: JobSpec,
  input: AsyncIterable<Buffer>,
  wanted: AbortSignal,
  { claim = createClaim(), beforeStart, onEvents, slot, ...work }: JobOptions = {},
) {
  const signal = AbortSignal.any([wanted, closing]);
  const release = slot?.take() ?? (await slots.acquire(claim, signal, work));
  let settled = Promise.resolve();
  try {
    await beforeStart?.();
    const host = await untilAborted(helper.current(), signal);
    const job = host.start(order, input, signal);
    // The helper enforces deadlines itself; a frozen one does not.
    const overdue = setTimeout(() => host.kill(), order.deadlineMs + graceMs);
    settled = job.settled.finally(() => clearTimeout(overdue));
    yield* job.output;
    const events = job.events();
    if (events) onEvents?.(events);
  } finally {
    void settled.then(release);
  }
}
