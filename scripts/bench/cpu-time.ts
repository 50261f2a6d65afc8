import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { descendantsOf } from "../../test/support/processes.ts";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/**
 * CPU time of a process and its descendants since their starts, in milliseconds, including children
 * that have exited.
 */
export const cpuMilliseconds = (pid: number): number =>
  [pid, ...descendantsOf(pid).map((one) => one.pid)].reduce((sum, one) => sum + ofProcess(one), 0);

/**
 * In proc(5)'s stat: utime, stime, cutime, cstime. A process that has exited is included in its
 * parent's.
 */
const ofProcess = (pid: number): number => {
  try {
    const [, fields = ""] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const ticks = fields.split(" ").slice(11, 15).map(Number);
    return (ticks.reduce((sum, one) => sum + one, 0) * 1000) / ticksPerSecond;
  } catch {
    return 0;
  }
};
