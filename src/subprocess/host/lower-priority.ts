import { readdir, readFile } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";

/** A third of this process's weight in Linux's scheduler: 10, the usual value, would starve the tools beside other programs. */
const lower = 5;

/**
 * Lets the service, its helper and urgent texts go before a process, or a thread of this one. There is no way back without
 * privileges. Undefined: the process could not be started.
 */
export const lowerPriority = (id: number | undefined): void => {
  try {
    if (id !== undefined) setPriority(id, Math.min(getPriority() + lower, constants.priority.PRIORITY_LOW));
  } catch {
    // It has exited already.
  }
};

/** The same for libuv's threads in this process. Linux sets the priority of a single thread by its id (setpriority(2)). */
export const lowerPriorityOfThreads = async (): Promise<void> => {
  const threads = "/proc/self/task"; // libuv starts all of its threads to read it
  for (const thread of await readdir(threads).catch(() => [])) {
    const name = await readFile(`${threads}/${thread}/comm`, "utf8").catch(() => "");
    if (name.trim() === "libuv-worker") lowerPriority(Number(thread));
  }
};
