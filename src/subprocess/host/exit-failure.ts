import type { Writable } from "node:stream";
import type { SpeechEvent } from "../espeak.ts";
import { ToolFailed } from "../tools.ts";

/** A running tool. */
export interface ToolProcess {
  readonly input: Writable;
  /** Ends when the process has exited successfully; throws {ToolFailed} otherwise. */
  readonly output: AsyncIterable<Buffer>;
  /** What it reports about its output, which has ended; undefined if it reports nothing. */
  readonly events?: () => readonly SpeechEvent[] | undefined;
  /** Kills it at once, without a reason. */
  kill(): void;
}

/** The failure of a tool by its exit. `stderr`: the start of its error output. */
export const exitFailure = (tool: string, stderr: string): ToolFailed => {
  const words = complaint(stderr);
  return new ToolFailed("exit", words === "" ? `${tool} failed.` : `${tool} failed: ${words}`);
};

/** The failure of a killed tool; undefined for a crash. */
export const signalFailure = (tool: string, signal: string): ToolFailed | undefined => {
  switch (signal) {
    case "SIGKILL":
    case "SIGTERM":
      return new ToolFailed("killed", `${tool} was killed.`);
    case "SIGXCPU":
      return new ToolFailed("deadline", `${tool} exceeded its CPU time limit.`);
    case "SIGXFSZ":
      return new ToolFailed("flood", `${tool} exceeded the output limit.`);
    default:
      return undefined;
  }
};

/** Removes quoted input and file names. */
const complaint = (stderr: string): string =>
  (stderr.trim().split("\n", 1)[0] ?? "")
    .replace(/(["'`]).*\1/g, "…")
    .replace(/\S*\/\S*/g, "…")
    .replace(/[^\x20-\x7e…]/g, " ")
    .slice(0, 120)
    .trim();
