import { readFile, writeFile } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/**
 * A third of this process's weight in Linux's scheduler: 10, the usual value, would starve the
 * tools beside other programs.
 */
const lower = 5;

const lowerThan = (priority: number): number => Math.min(priority + lower, constants.priority.PRIORITY_LOW);

/**
 * Lets the service, its helper and urgent texts go before a process, or a thread of this one. There
 * is no way back without privileges. Undefined: the process could not be started.
 */
export const lowerPriority = (id: number | undefined): void => {
  try {
    if (id !== undefined) setPriority(id, lowerThan(getPriority()));
  } catch {
    // It has exited already.
  }
};

/**
 * Lets the service go before this process and all that it starts, where the kernel shares time
 * among sessions: priorities of processes then count within their session only (sched(7), "The
 * autogroup feature"). To be called by the session's leader. The file is empty if the service's
 * session has no group: the service's own priority counts then.
 */
export const lowerPriorityOfSession = async (): Promise<void> => {
  try {
    const group = await readFile(`/proc/${process.ppid}/autogroup`, "utf8");
    const nice = group.match(/nice (-?\d+)/)?.[1] ?? getPriority(process.ppid);
    await setPriorityOfSession(lowerThan(Number(nice)));
  } catch {
    // Another kernel, one without autogroups, or one that has refused every attempt.
  }
};

/** Linux accepts one change per 100 ms from all unprivileged processes together. */
const setPriorityOfSession = async (priority: number, attempts = 5): Promise<void> => {
  try {
    await writeFile("/proc/self/autogroup", String(priority));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || attempts === 1) throw error;
    await delay(100);
    await setPriorityOfSession(priority, attempts - 1);
  }
};
