import { createScheduler } from "../../async/scheduler/scheduler.ts";
import { createWaiter, type Waiter } from "../../async/scheduler/waiter.ts";
import { backgroundTime, type Time } from "../../async/time.ts";
import { Unavailable } from "../../domain/errors.ts";
import { queues } from "../../limits/queues.ts";

/** Runs reports that read much of the log, such as the usage reports that keys request. */
export interface ReportQueue {
  /**
   * Runs `report` when it is the key's turn. The signal that it receives is aborted when it takes
   * too long. A slow report may be aborted, and is then run once more when a slot for slow ones is
   * free.
   * @throws {Unavailable} if too many reports are waiting, or this one takes too long
   * @throws {KeyOverloaded} if too many reports of this caller are waiting
   */
  run<T>(apiKey: string, signal: AbortSignal, report: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * A report that takes longer needs a slot for slow ones. Otherwise all other keys would wait for
 * the long reports of two keys.
 */
const slowAfterMs = 1_000;
const maxReportMs = 30_000;

const tooLong = (cause: unknown): Unavailable =>
  new Unavailable("The report takes too long. Request a shorter range.", 60, { cause });

/** The reasons with which reports are aborted. */
const needsSlowSlot = new Error("The report is slow, and other slow ones are running.");
const timedOut = new Error("The report takes too long.");

export const createReportQueue = ({ time = backgroundTime }: { time?: Time } = {}): ReportQueue => {
  // Reports have a separate scheduler, because waiting reports say nothing about the health of
  // syntheses.
  const scheduler = createScheduler({ time });
  const reports = scheduler.resource("usage_reports", queues.usage_reports);
  const slowReports = scheduler.resource("slow_usage_reports", queues.slow_usage_reports);

  /** Moves the report to a slot for slow ones, if one is free. */
  const slowSlot = (waiter: Waiter): (() => void) | undefined => {
    try {
      return slowReports.acquireNow(waiter);
    } catch {
      return undefined;
    }
  };

  return {
    run: async (apiKey, signal, report) => {
      const waiter = createWaiter(apiKey);
      const run = async (slot: { release: () => void }, attempt: AbortController) => {
        try {
          return await report(AbortSignal.any([signal, attempt.signal]));
        } finally {
          slot.release();
        }
      };

      const runFirst = async () => {
        const slot = { release: await reports.acquire(waiter, signal) };
        const attempt = new AbortController();
        let cancel = time.after(slowAfterMs, () => {
          const slow = slowSlot(waiter);
          if (!slow) return attempt.abort(needsSlowSlot);
          slot.release();
          slot.release = slow;
          cancel = time.after(maxReportMs - slowAfterMs, () => attempt.abort(timedOut));
        });
        return await run(slot, attempt)
          .catch(failureOf(attempt, signal))
          .finally(() => cancel());
      };

      const runSlow = async () => {
        const slot = { release: await slowReports.acquire(waiter, signal) };
        const attempt = new AbortController();
        const cancel = time.after(maxReportMs, () => attempt.abort(timedOut));
        return await run(slot, attempt).catch(failureOf(attempt, signal)).finally(cancel);
      };

      try {
        return await runFirst();
      } catch (error) {
        if (error !== needsSlowSlot) throw error;
        return await runSlow();
      }
    },
  };
};

/** Throws the report's own error, unless this queue has aborted the report. */
const failureOf =
  ({ signal: attempt }: AbortController, caller: AbortSignal) =>
  (error: unknown): never => {
    if (!attempt.aborted || caller.aborted) throw error;
    throw attempt.reason === timedOut ? tooLong(error) : needsSlowSlot;
  };
