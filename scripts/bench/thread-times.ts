import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { commandLineOf, descendantsOf } from "../../test/support/processes.ts";

/** The CPU time of one thread since its start. */
interface ThreadTime {
  readonly process: string;
  /** True for the thread that runs the process's event loop. */
  readonly isMain: boolean;
  readonly milliseconds: number;
}

export type ThreadTimes = ReadonlyMap<string, ThreadTime>;

const nanosecondsPerMillisecond = 1e6;

/**
 * Returns the CPU times of all threads of a service, by process id and thread id. A thread's time
 * is the first figure of its `schedstat`, in nanoseconds (Linux,
 * Documentation/scheduler/sched-stats.rst).
 */
export const threadTimes = (pid: number): ThreadTimes => {
  const times = new Map<string, ThreadTime>();
  for (const one of [pid, ...descendantsOf(pid).map((child) => child.pid)]) {
    for (const thread of threadsOf(one)) {
      const [nanoseconds] = readFileSync(`/proc/${one}/task/${thread}/schedstat`, "utf8").split(" ");
      times.set(`${one}/${thread}`, {
        process: nameOf(one, pid),
        isMain: Number(thread) === one,
        milliseconds: Number(nanoseconds) / nanosecondsPerMillisecond,
      });
    }
  }
  return times;
};

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // it has exited
  }
};

const nameOf = (pid: number, first: number): string => {
  if (commandLineOf(pid).includes("src/worker.ts")) return "worker";
  return pid === first ? "primary" : "tools";
};

/** Makes all threads of a service run on the processor with this number, from 0. */
export const pin = (pid: number, processor: number): void => {
  for (const one of [pid, ...descendantsOf(pid).map((child) => child.pid)])
    execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(processor), String(one)]);
};

/** The CPU time per request of one service, in microseconds. */
export interface Costs {
  /** The time of all its threads together. */
  readonly total: number;
  /**
   * The time of the main threads of all workers together, or of the main thread of a service
   * without workers.
   */
  readonly serving: number;
  /** The time of the busiest thread that all workers share. */
  readonly shared: number;
}

export const costsOf = (before: ThreadTimes, after: ThreadTimes, requests: number): Costs => {
  const spent = [...after].map(([id, { process, isMain, milliseconds }]) => ({
    ...{ process, isMain },
    microseconds: ((milliseconds - (before.get(id)?.milliseconds ?? 0)) * 1_000) / requests,
  }));
  const sumOf = (all: typeof spent) => all.reduce((sum, { microseconds }) => sum + microseconds, 0);
  const hasWorkers = spent.some(({ process }) => process === "worker");
  const serves = ({ process, isMain }: (typeof spent)[number]) =>
    isMain && process === (hasWorkers ? "worker" : "primary");
  const shared = spent.filter((one) => one.process === "primary" && !serves(one));
  return {
    total: sumOf(spent),
    serving: sumOf(spent.filter(serves)),
    shared: Math.max(0, ...shared.map(({ microseconds }) => microseconds)),
  };
};

/**
 * Estimates from CPU times how many times as many requests per second a service serves with one
 * worker per processor, compared with a single process on the same processors. The estimate assumes
 * that each worker has one main thread, that all workers share the busiest shared thread, and that
 * no thread waits for another one.
 */
export const estimateGain = (one: Costs, several: Costs, processors: number): number => {
  const rateOfOne = Math.min(1 / one.serving, 1 / one.shared);
  const rateOfSeveral = Math.min(
    processors / several.total,
    processors / several.serving,
    1 / several.shared,
  );
  return rateOfSeveral / rateOfOne;
};
