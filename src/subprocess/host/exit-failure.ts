import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { type ProcessEnd, processEnd } from "../../domain/process-end.ts";
import type { JobReport, TextResponse } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";

/** A running tool. */
export interface ToolProcess {
  readonly input: Writable;
  /** Ends when the process has exited successfully; throws {ToolFailed} otherwise. */
  readonly output: AsyncIterable<Buffer>;
  /**
   * Returns the report about the output, when the output has ended; undefined if there is no
   * report.
   */
  readonly spoken?: () => JobReport | undefined;
  /** Passes on the service's response to a `TextRequest`. */
  readonly onResponse?: (response: TextResponse) => void;
  /** Kills the process at once. */
  kill(): void;
}

const maxStderr = 4096;

/**
 * Resolves when the process has exited or could not be started. The failure applies unless `code`
 * is 0.
 */
export const exitOf = (tool: string, child: ChildProcess) => {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < maxStderr) stderr += text;
  });
  return new Promise<{ readonly code: number | null; readonly failure: ToolFailed }>((resolve) => {
    child.on("error", () => resolve({ code: null, failure: notStarted(tool) }));
    child.on("close", (code, signal) =>
      resolve({ code, failure: endFailure(tool, stderr, processEnd(code, signal)) }),
    );
  });
};

export const notStarted = (tool: string): ToolFailed =>
  new ToolFailed("missing", `${tool} could not be started.`);

/** Returns the failure of a tool by the start of its error output, and by how it has ended. */
export const endFailure = (tool: string, stderr: string, end: ProcessEnd): ToolFailed => {
  switch (end.signal) {
    case "SIGKILL":
    case "SIGTERM":
      return new ToolFailed("killed", `${tool} was killed.`, { end });
    case "SIGXCPU":
      return new ToolFailed("deadline", `${tool} exceeded its CPU time limit.`, { end });
    case "SIGXFSZ":
      return new ToolFailed("flood", `${tool} exceeded the output limit.`, { end });
    default:
      return exitFailure(tool, stderr, end);
  }
};

/**
 * Returns the failure of a tool that has failed with an error. `stderr`: the start of its error
 * output.
 */
export const exitFailure = (tool: string, stderr: string, end: ProcessEnd = {}): ToolFailed => {
  const words = complaint(stderr);
  return new ToolFailed("exit", words === "" ? `${tool} failed.` : `${tool} failed: ${words}`, { end });
};

/**
 * The lines that V8 writes before the reason for which it ends a process, such as a lack of memory.
 */
const v8Heading = /^\s*#\n(?:# Fatal error in .*\n)?# /;

/** Returns the first line of the error output, without quoted input and file names. */
const complaint = (stderr: string): string =>
  (stderr.replace(v8Heading, "").trim().split("\n", 1)[0] ?? "")
    .replace(/(["'`]).*\1/g, "…")
    .replace(/\S*\/\S*/g, "…")
    .replace(/[^\x20-\x7e…]/g, " ")
    .slice(0, 120)
    .trim();
