import type { Logger } from "pino";
import type { Time } from "../async/time.ts";

interface ServingWorker {
  readonly number: number;
  readonly worker: { ping(): Promise<void>; kill(): void };
}

interface WatchOptions {
  /** The workers that serve now. */
  readonly serving: () => readonly ServingWorker[];
  readonly log: Logger;
  readonly time: Time;
}

const pingEveryMs = 10_000;
const maxMissed = 6;

/**
 * Pings the workers that serve, and kills a worker that has not responded for a minute: as long as
 * the others respond, no check from outside finds it.
 *
 * A machine that is busy or was suspended must not cause this. So intervals are counted instead of
 * measuring time: a primary that does not run counts none. And an interval counts against a worker
 * only if another worker has responded in it. If none responds, the machine is at fault, or a check
 * from outside restarts the service.
 * @returns a function that ends the watch
 */
export const watchResponses = ({ serving, log, time }: WatchOptions): (() => void) => {
  /** The number of intervals for which the ping of each worker has had no response. */
  const missed = new Map<ServingWorker["worker"], number>();

  const ping = async (worker: ServingWorker["worker"]): Promise<void> => {
    missed.set(worker, 0);
    await worker.ping().catch(() => {}); // it has ended
    missed.delete(worker);
  };

  const check = (): void => {
    cancel = time.after(pingEveryMs, check);
    const workers = serving();
    const waiting = workers.filter(({ worker }) => missed.has(worker));
    if (waiting.length < workers.length) for (const one of waiting) miss(one);
    for (const { worker } of workers) if (!missed.has(worker)) void ping(worker);
  };

  const miss = ({ number, worker }: ServingWorker): void => {
    const intervals = (missed.get(worker) ?? 0) + 1;
    missed.set(worker, intervals);
    if (intervals !== maxMissed) return;
    log.error({ worker: number }, "a worker does not respond: it is killed");
    worker.kill();
  };

  let cancel = time.after(pingEveryMs, check);
  return () => cancel();
};
