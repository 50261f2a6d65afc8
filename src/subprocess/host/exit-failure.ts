import type { Writable } from "node:stream";
import { ToolFailed } from "../tools.ts";

/** One process at work on one job. */
export interface ToolProcess {
  readonly input: Writable;
  /** Ends when the process has ended well and is gone; throws {ToolFailed} when it is gone otherwise. */
  readonly output: AsyncIterable<Buffer>;
  /** At once; says nothing of why. */
  kill(): void;
}

/** The exit of a tool, in words. `stderr`: the beginning of what it said there. */
export const exitFailure = (tool: string, stderr: string): ToolFailed => {
  const words = complaint(stderr);
  return new ToolFailed("exit", words === "" ? `${tool} failed.` : `${tool} failed: ${words}`);
};

/** What a signal that ended a tool means; undefined for a crash. */
export const signalFailure = (tool: string, signal: string): ToolFailed | undefined => {
  switch (signal) {
    case "SIGKILL":
    case "SIGTERM":
      return new ToolFailed("killed", `${tool} was killed.`);
    case "SIGXCPU":
      return new ToolFailed("deadline", `${tool} took too much processor time.`);
    case "SIGXFSZ":
      return new ToolFailed("flood", `${tool} gave too much sound.`);
    default:
      return undefined;
  }
};

/** Tools quote what they were given and name the files they looked for: neither is for others to read. */
const complaint = (stderr: string): string =>
  (stderr.trim().split("\n", 1)[0] ?? "")
    .replace(/(["'`]).*\1/g, "…")
    .replace(/\S*\/\S*/g, "…")
    .replace(/[^\x20-\x7e…]/g, " ")
    .slice(0, 120)
    .trim();
