import type { Logger } from "pino";
import { sleep } from "../async/sleep.ts";
import { systemTime, type Time } from "../async/time.ts";
import { watchResponses } from "./watch-responses.ts";
import type { Exit } from "./worker-process.ts";

/** A worker, as its supervisor sees it. */
export interface SupervisedWorker {
  /** Resolves when it serves. Rejects if it ends before that. */
  readonly serving: Promise<void>;
  readonly exited: Promise<Exit>;
  /** Resolves when it responds. Rejects if it ends before that. */
  ping(): Promise<void>;
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
  /** Starts a worker for the place with this number, from 1. */
  readonly start: (place: number) => SupervisedWorker;
  /** Returns the time after which a worker that is closing is killed. */
  readonly closeTimeoutMs: (reason: CloseReason) => number;
  readonly log: Logger;
  readonly time?: Time;
}

/**
 * The delays before a worker is replaced, by the number of workers that have ended early in its
 * place.
 */
const pausesMs = [0, 100, 1_000, 5_000, 30_000];
/** The end of a worker that has served for longer does not count as early. */
const goodLifeMs = 60_000;
/**
 * A worker that does not serve after this time is killed. Each step of a start has a shorter limit.
 */
const startTimeoutMs = 600_000;

interface Place {
  readonly number: number;
  /** The worker that serves. */
  current: SupervisedWorker | undefined;
  starting: Promise<void> | undefined;
  isBeingReplaced: boolean;
  shortLives: number;
}

/** Keeps one worker in each place, and replaces those that end or do not respond. */
export const superviseWorkers = (options: SupervisorOptions) => {
  const { count, start, closeTimeoutMs, log, time = systemTime } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const running = new Set<SupervisedWorker>();
  const ending = new WeakMap<SupervisedWorker, Promise<Exit>>();
  const places = Array.from(
    { length: count },
    (_, index): Place => ({
      number: index + 1,
      current: undefined,
      starting: undefined,
      isBeingReplaced: false,
      shortLives: 0,
    }),
  );
  let restarting: Promise<void> | undefined;
  let isRestartDue = false;

  /**
   * Starts a worker in the place, and resolves when it serves. At most one worker starts there at a
   * time: a second call joins the first.
   */
  const begin = (place: Place): Promise<void> => {
    place.starting ??= startIn(place).finally(() => {
      place.starting = undefined;
    });
    return place.starting;
  };

  const startIn = async (place: Place): Promise<void> => {
    signal.throwIfAborted();
    const worker = start(place.number);
    running.add(worker);
    void worker.exited.then(() => running.delete(worker));
    const cancel = time.after(startTimeoutMs, () => {
      log.error({ worker: place.number }, "a worker does not begin to serve: it is killed");
      worker.kill();
    });
    await worker.serving.finally(cancel);
    watch(place, worker);
  };

  const watch = (place: Place, worker: SupervisedWorker): void => {
    const startedAt = time.now();
    place.current = worker;
    void worker.exited.then((exit) => {
      if (place.current !== worker) return; // another one has taken its place
      place.current = undefined;
      if (signal.aborted) return;
      log.warn({ worker: place.number, ...exit }, "a worker has ended: another one replaces it");
      if (time.now() - startedAt > goodLifeMs) place.shortLives = 0;
      void replace(place);
    });
  };

  const replace = async (place: Place): Promise<void> => {
    if (place.isBeingReplaced) return;
    place.isBeingReplaced = true;
    while (!place.current && !signal.aborted) {
      const pauseMs = pausesMs[Math.min(place.shortLives, pausesMs.length - 1)] ?? 0;
      place.shortLives += 1;
      await sleep(pauseMs, { time, signal }).catch(() => {}); // the service is closing
      if (place.current || signal.aborted) continue;
      await begin(place).catch((error) => {
        if (!signal.aborted) log.error({ worker: place.number, err: error }, "a worker could not be started");
      });
    }
    place.isBeingReplaced = false;
  };

  /** Closes a worker, unless it is closing already. Resolves when it has ended. */
  const end = (worker: SupervisedWorker, reason: CloseReason): Promise<Exit> => {
    const begun = ending.get(worker);
    if (begun !== undefined) return begun;
    const cancel = time.after(closeTimeoutMs(reason), () => worker.kill());
    worker.close(reason);
    const ended = worker.exited.finally(cancel);
    ending.set(worker, ended);
    return ended;
  };

  /** Replaces the workers one after the other: a new worker serves before the old one closes. */
  const restartAll = async (): Promise<void> => {
    for (const place of places) {
      const old = place.current;
      if (!old) continue; // it is being replaced
      await begin(place);
      if (signal.aborted) return;
      if (place.current !== old) await end(old, "restart");
    }
  };

  const restartWhileDue = async (): Promise<void> => {
    while (isRestartDue && !signal.aborted) {
      isRestartDue = false;
      log.info("restarting the workers");
      try {
        await restartAll();
        if (!signal.aborted) log.info("restarted the workers");
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "the workers could not be restarted: the earlier ones continue");
      }
    }
  };

  const serving = () =>
    places.flatMap(({ number, current }) => (current ? [{ number, worker: current }] : []));
  const stopWatching = watchResponses({ serving, log, time });

  return {
    /**
     * Starts the first worker alone, because it creates what a new installation lacks, and then the
     * others. Resolves with false if `close` is called meanwhile.
     * @throws if a worker ends before it serves
     */
    start: async (): Promise<boolean> => {
      const [first, ...others] = places;
      try {
        if (first) await begin(first);
        await Promise.all(others.map(begin));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      return !signal.aborted;
    },
    /**
     * Replaces all workers, without a moment in which none serves. A call during a restart begins
     * another restart after it. Never rejects.
     */
    restart: async (): Promise<void> => {
      isRestartDue = true;
      restarting ??= restartWhileDue().finally(() => {
        restarting = undefined;
      });
      await restarting;
    },
    /** Ends all workers, including those that are starting. Resolves with their exits. */
    close: async (): Promise<readonly Exit[]> => {
      closing.abort();
      stopWatching();
      return await Promise.all([...running].map((worker) => end(worker, "shutdown")));
    },
  };
};
