import { readFileSync } from "node:fs";
import { descendantsOf } from "../../test/support/processes.ts";

const kilobytes = (pid: number, file: "status" | "smaps_rollup", field: "VmRSS" | "Pss"): number => {
  const [, value] =
    new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8")) ?? [];
  return Number(value);
};
/** The memory of one process, in megabytes. */
export const rssOf = (pid: number): number => kilobytes(pid, "status", "VmRSS") / 1024;

/**
 * The memory of a process and its descendants, in megabytes. Descendants that exit during the
 * summation count as zero.
 */
export const pssOfTree = (pid: number): number => {
  const all = [pid, ...descendantsOf(pid).map((one) => one.pid)];
  return all.reduce((sum, one) => {
    try {
      return sum + kilobytes(one, "smaps_rollup", "Pss") / 1024;
    } catch {
      return sum;
    }
  }, 0);
};
