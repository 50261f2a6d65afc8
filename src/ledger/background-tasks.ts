import { untilAborted } from "../async/deadline.ts";
import { afterErrors, retry } from "../async/retry.ts";
import type { Time } from "../async/time.ts";
import { Unavailable } from "../domain/errors.ts";
import { JournalTakenOver } from "../domain/ledger/journal/journal.ts";

/** Above this, requests are refused until the event store has recovered. */
const maxPending = 10_000;

export type BackgroundTasks = ReturnType<typeof createBackgroundTasks>;

/** Runs work on the ledger that no caller waits for. */
export const createBackgroundTasks = ({
  time,
  onError,
}: {
  readonly time: Time;
  readonly onError: (what: string, error: unknown) => void;
}) => {
  const tasks = new Set<Promise<void>>();
  const closing = new AbortController();
  const { signal } = closing;
  return {
    /**
     * Runs the task. Repeats it while the event store is unavailable, or if its journal was taken
     * over. Reports any other error. Resolves when the task has ended; callers need not wait.
     */
    run: (task: () => Promise<void>): Promise<void> => {
      const work = retry({ delayAfter, time, signal }, () => untilAborted(task(), signal))
        .catch((error) => onError("an entry of the ledger was lost", error))
        .finally(() => tasks.delete(work));
      tasks.add(work);
      return work;
    },
    /** The number of tasks that have not ended. */
    get pending(): number {
      return tasks.size;
    },
    /** Resolves when nothing is pending. */
    drained: async (): Promise<void> => {
      while (tasks.size > 0) await Promise.all(tasks);
    },
    /** Ends all tasks, and reports each. */
    close: (): void => closing.abort(new Unavailable("The service is shutting down.", 2)),
    /**
     * @throws {Unavailable} after `close`, and if too many tasks are pending, including those whose
     * entries wait in a journal's writer
     */
    throwIfUnavailable: (waitingEntries: number): void => {
      signal.throwIfAborted();
      if (tasks.size + waitingEntries >= maxPending) throw tooManyPending();
    },
  };
};

const delayAfter = afterErrors((error) => error instanceof Unavailable || error instanceof JournalTakenOver, {
  firstMs: 50,
  maxMs: 2_000,
});

const tooManyPending = (): Unavailable =>
  new Unavailable("Too many requests wait for the event store to recover.", 2);
