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
 * All threads of a service, by process id and thread id. A thread's time is the first figure of its
 * `schedstat`, in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
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

/** Makes all threads of a service run on one processor, from 0. */
export const pin = (pid: number, processor: number): void => {
  for (const one of [pid, ...descendantsOf(pid).map((child) => child.pid)])
    execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(processor), String(one)]);
};

/** CPU microseconds per request of one service. */
export interface Costs {
  /** All its threads take this together. */
  readonly total: number;
  /** The main threads of all workers take this together, or that of a service without workers. */
  readonly serving: number;
  /** The busiest thread that all workers share takes this. */
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
 * Requests per second of a service with as many workers as processors, compared with one process
 * that has as many processors: an estimate from the CPU times. Each worker has a main thread, all
 * have the busiest shared thread in common, and no thread waits for another one.
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
