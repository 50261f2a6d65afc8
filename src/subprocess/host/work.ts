import type { Writable } from "node:stream";
import { ToolFailed } from "../tools.ts";

/** One process at work on one job. */
export interface Work {
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

const fromOutside: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM"]);

/** Undefined for a signal that a tool brings on itself, by a crash. */
export const killedFailure = (tool: string, signal: string): ToolFailed | undefined =>
  fromOutside.has(signal) ? new ToolFailed("killed", `${tool} was killed.`) : undefined;

/** Tools quote what they were given and name the files they looked for: neither is for others to read. */
const complaint = (stderr: string): string =>
  (stderr.trim().split("\n", 1)[0] ?? "")
    .replace(/(["'`]).*\1/g, "…")
    .replace(/\S*\/\S*/g, "…")
    .replace(/[^\x20-\x7e…]/g, " ")
    .slice(0, 120)
    .trim();
