import type { Logger } from "pino";
import { backgroundTime, type Time } from "../../async/time.ts";
import type { Port } from "../../workers/port.ts";
import type { CallsToPrimary, CallsToWorker } from "./calls.ts";

interface Worker {
  readonly port: Pick<Port<CallsToWorker, CallsToPrimary>, "call">;
}

const retryMs = 1_000;
/**
 * After this time the next worker is asked, because the first one may be frozen. Both may recover a
 * journal at once.
 */
const recoverTimeoutMs = 30_000;

interface TakeOverOptions {
  readonly log: Logger;
  readonly time?: Time;
}

/**
 * Makes a worker that serves take over the journals of workers that have ended. The primary knows
 * that their processes are gone. Other machines do not: they must wait until a journal has been
 * idle for long.
 */
export const createJournalTakeOver = ({ log, time = backgroundTime }: TakeOverOptions) => {
  const serving = new Set<Worker>();
  const orphaned = new Set<string>();
  let isRunning = false;

  const recover = async (): Promise<void> => {
    const [worker] = serving;
    if (!worker || isRunning || orphaned.size === 0) return;
    isRunning = true;
    const journals = [...orphaned];
    try {
      await worker.port.call("recoverJournals", journals, { withinMs: recoverTimeoutMs });
      for (const journal of journals) orphaned.delete(journal);
    } catch (error) {
      // The worker has ended itself, or does not respond, or the event store is not available.
      log.debug({ err: error }, "journals could not be taken over yet");
      if (serving.delete(worker)) serving.add(worker); // it is asked again after all others
      time.after(retryMs, () => void recover());
    } finally {
      isRunning = false;
    }
    if (journals.every((journal) => !orphaned.has(journal))) void recover();
  };

  return {
    /** Called when a worker serves. */
    add: (worker: Worker): void => {
      serving.add(worker);
      void recover();
    },
    /** Called when a worker has ended. `journals`: those that it has left open. */
    ended: (worker: Worker, journals: Iterable<string>): void => {
      serving.delete(worker);
      for (const journal of journals) orphaned.add(journal);
      void recover();
    },
  };
};
