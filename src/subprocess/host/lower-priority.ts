import { readFile, writeFile } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/**
 * The increment of the nice value. It leaves a third of this process's weight in Linux's scheduler.
 * 10, the usual increment, would starve the tools beside other programs.
 */
const lower = 5;

const lowerThan = (priority: number): number => Math.min(priority + lower, constants.priority.PRIORITY_LOW);

/**
 * Lowers the priority of a process, or of a thread of this process, so that the service, its helper
 * and urgent texts go before it. Without privileges, the priority cannot be raised again. `id` is
 * undefined if the process could not be started.
 */
export const lowerPriority = (id: number | undefined): void => {
  try {
    if (id !== undefined) setPriority(id, lowerThan(getPriority()));
  } catch {
    // It has exited already.
  }
};

/**
 * Lowers the priority of this process's session, so that the service goes before this process and
 * all processes that it starts. This is needed where the kernel shares time among sessions: there,
 * priorities of processes count only within their session (sched(7), "The autogroup feature"). The
 * leader of the session must call it. The file `autogroup` is empty if the service's session has no
 * group: then the service's own priority counts.
 */
export const lowerPriorityOfSession = async (): Promise<void> => {
  try {
    const group = await readFile(`/proc/${process.ppid}/autogroup`, "utf8");
    const nice = group.match(/nice (-?\d+)/)?.[1] ?? getPriority(process.ppid);
    await setPriorityOfSession(lowerThan(Number(nice)));
  } catch {
    // The kernel is not Linux, has no autogroups, or has refused every attempt.
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
