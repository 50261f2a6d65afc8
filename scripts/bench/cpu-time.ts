import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { commandLineOf, descendantsOf } from "../../test/support/processes.ts";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/**
 * CPU time of a process and its descendants since their starts, in milliseconds, including children
 * that have exited.
 */
export const cpuMilliseconds = (pid: number): number =>
  [...cpuByProgram(pid).values()].reduce((sum, one) => sum + one, 0);

/**
 * The same by the names of the programs. Children that have exited are those of their parent's
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

/** The script that a process runs, or its command, with the folder that it is in. */
const programOf = (pid: number): string => {
  const [command = "", ...args] = commandLineOf(pid).split("\0");
  const path = args.find((arg) => /\.(ts|py)$/.test(arg)) ?? command;
  return path.split("/").slice(-2).join("/");
};

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
