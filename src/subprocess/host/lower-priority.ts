import type { ChildProcess } from "node:child_process";
import { constants, getPriority, setPriority } from "node:os";

/** A third of this process's weight in Linux's scheduler: 10, the usual value, would starve the tools beside other programs. */
const lower = 5;

/** Lets the service, its helper and urgent texts go first. There is no way back without privileges. */
export const lowerPriority = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(getPriority() + lower, constants.priority.PRIORITY_LOW));
  } catch {
    // It has exited already.
  }
};
