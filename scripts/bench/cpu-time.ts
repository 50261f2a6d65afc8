import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { commandLineOf, descendantsOf } from "../../test/support/processes.ts";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/**
 * Returns the CPU time of a process and its descendants since their starts, in milliseconds.
 * Children that have exited are included.
 */
export const cpuMilliseconds = (pid: number): number =>
  [...cpuByProgram(pid).values()].reduce((sum, one) => sum + one, 0);

/**
 * Returns the same by the names of the programs. Children that have exited count for their parent's
 * program.
 */
export const cpuByProgram = (pid: number): ReadonlyMap<string, number> => {
  const programs = new Map<string, number>();
  for (const one of [pid, ...descendantsOf(pid).map((child) => child.pid)]) {
    const program = programOf(one);
    programs.set(program, (programs.get(program) ?? 0) + ofProcess(one));
  }
  return programs;
};

/** Returns the script that a process runs, or its command, with the folder that contains it. */
const programOf = (pid: number): string => {
  const [command = "", ...args] = commandLineOf(pid).split("\0");
  const path = args.find((arg) => /\.(ts|py)$/.test(arg)) ?? command;
  return path.split("/").slice(-2).join("/");
};

/**
 * Adds up utime, stime, cutime and cstime of the file `stat` (proc(5)). The last two include
 * children that have exited.
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
