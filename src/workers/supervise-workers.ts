import type { Logger } from "pino";
import { sleep } from "../async/sleep.ts";
import type { Exit } from "./worker-process.ts";

/** A worker, as its supervisor sees it. */
export interface SupervisedWorker {
  /** Resolves when it serves. Rejects if it ends before. */
  readonly serving: Promise<void>;
  readonly exited: Promise<Exit>;
  /**
   * Makes it accept nothing more, complete what it has begun, and end. `restart`: another worker
   * has taken its place.
   */
  close(reason: CloseReason): void;
  kill(): void;
}

export type CloseReason = "restart" | "shutdown";

interface SupervisorOptions {
  readonly count: number;
  /** Starts a worker for this place, from 1. */
  readonly start: (place: number) => SupervisedWorker;
  /** A worker that is told to close is killed after this time. */
  readonly closeTimeoutMs: (reason: CloseReason) => number;
  readonly log: Logger;
}

/** Delays before a worker is replaced, by how often its place had short lives before. */
const pausesMs = [0, 100, 1_000, 5_000, 30_000];
/** After this time an end is not counted as early. */
const goodLifeMs = 60_000;

export type WorkerSupervisor = ReturnType<typeof superviseWorkers>;

/** Keeps one worker in each place, and replaces those that end. */
export const superviseWorkers = ({ count, start, closeTimeoutMs, log }: SupervisorOptions) => {
  const closing = new AbortController();
  const current = new Map<number, SupervisedWorker>();
  const all = new Set<SupervisedWorker>();
  const shortLives = new Map<number, number>();
  let restarting: Promise<void> | undefined;
  let isRestartDue = false;

  /** Resolves with the worker when it serves. It is watched from then on. */
  const begin = async (place: number): Promise<SupervisedWorker> => {
    const worker = start(place);
    all.add(worker);
    void worker.exited.then(() => all.delete(worker));
    await worker.serving;
    return worker;
  };

  const watch = (place: number, worker: SupervisedWorker): void => {
    const startedAt = performance.now();
    current.set(place, worker);
    void worker.exited.then((exit) => {
      if (current.get(place) !== worker) return; // it was told to end
      current.delete(place);
      if (closing.signal.aborted) return;
      log.warn({ worker: place, ...exit }, "a worker has ended: another one replaces it");
      if (performance.now() - startedAt > goodLifeMs) shortLives.delete(place);
      void replace(place);
    });
  };

  const replace = async (place: number): Promise<void> => {
    while (!closing.signal.aborted && !current.has(place)) {
      const lives = shortLives.get(place) ?? 0;
      shortLives.set(place, lives + 1);
      await sleep(pausesMs[Math.min(lives, pausesMs.length - 1)] ?? 0, { signal: closing.signal });
      await begin(place).then(
        (worker) => watch(place, worker),
        (error) => log.error({ worker: place, err: error }, "a worker could not be started"),
      );
    }
  };

  /** Resolves when it has ended. */
  const end = async (worker: SupervisedWorker, reason: CloseReason): Promise<Exit> => {
    const timeout = setTimeout(worker.kill, closeTimeoutMs(reason));
    worker.close(reason);
    return await worker.exited.finally(() => clearTimeout(timeout));
  };

  /** One after the other: the new worker serves before the old one closes. */
  const restartAll = async (): Promise<void> => {
    for (let place = 1; place <= count && !closing.signal.aborted; place++) {
      const old = current.get(place);
      if (!old) continue; // it is being replaced
      const next = await begin(place);
      if (closing.signal.aborted) return;
      watch(place, next);
      await end(old, "restart");
    }
  };

  return {
    /**
     * Starts the first worker alone: it creates what a new installation lacks.
     * @throws if one ends
     */
    start: async (): Promise<void> => {
      watch(1, await begin(1));
      const others = Array.from({ length: count - 1 }, (_, index) => index + 2);
      await Promise.all(others.map(async (place) => watch(place, await begin(place))));
    },
    /**
     * Replaces all workers, without a moment in which none serves. A call while it is in progress
     * begins it again after its end.
     */
    restart: async (): Promise<void> => {
      isRestartDue = true;
      restarting ??= (async () => {
        try {
          while (isRestartDue && !closing.signal.aborted) {
            isRestartDue = false;
            await restartAll();
          }
        } finally {
          restarting = undefined;
        }
      })();
      await restarting;
    },
    /** Ends all workers. Resolves with their exits. */
    close: async (): Promise<readonly Exit[]> => {
      closing.abort();
      current.clear();
      return await Promise.all([...all].map((worker) => end(worker, "shutdown")));
    },
  };
};
