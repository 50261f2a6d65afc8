import type { Logger } from "pino";
import { backgroundTime, type Time } from "../../async/time.ts";
import type { Port } from "../../workers/port.ts";
import type { CallsToPrimary, CallsToWorker } from "./calls.ts";

interface Worker {
  readonly port: Pick<Port<CallsToWorker, CallsToPrimary>, "call">;
}

const retryMs = 1_000;
/** Then the next worker is asked: the first may be frozen. Both may do it at once. */
const recoverTimeoutMs = 30_000;

interface TakeOverOptions {
  readonly log: Logger;
  readonly time?: Time;
}

/**
 * Makes a worker that serves take over the journals of those that have ended: the primary knows
 * that their process is gone, where other machines must wait until a journal has been idle for
 * long.
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
      // It has ended itself, does not respond, or the event store is not available.
      log.debug({ err: error }, "journals could not be taken over yet");
      if (serving.delete(worker)) serving.add(worker); // the last to be asked again
      time.after(retryMs, () => void recover());
    } finally {
      isRunning = false;
    }
    if (journals.every((journal) => !orphaned.has(journal))) void recover();
  };

  return {
    /** This worker serves from now on. */
    add: (worker: Worker): void => {
      serving.add(worker);
      void recover();
    },
    /** This worker has ended, and has left these journals open. */
    ended: (worker: Worker, journals: Iterable<string>): void => {
      serving.delete(worker);
      for (const journal of journals) orphaned.add(journal);
      void recover();
    },
  };
};
