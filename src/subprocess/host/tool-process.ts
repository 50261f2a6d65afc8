import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, readSync } from "node:fs";
import { constants, setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { ToolSpec } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { exitFailure, signalFailure, type ToolProcess } from "./exit-failure.ts";
import { limitedCommand } from "./limited-command.ts";
import { openTemporaryFile } from "./temporary-file.ts";

const pieceBytes = 64 * 1024;
const maxStderr = 4096;
const memoryBytes = 256 * 1024 * 1024;
/** Exit code of a shell for an unknown command. */
const notFound = 127;

/** Starts a speech tool under resource limits. The text is passed on standard input only. */
export const startTool = (order: ToolSpec): ToolProcess =>
  order.output === "file" ? startOnFile(order) : startOnPipe(order);

const startOnPipe = (order: ToolSpec): ToolProcess => {
  const child = start(order, "pipe");
  const exited = exitOf(order.tool, child);
  const { stdin, stdout } = child;
  return {
    input: stdin as Writable,
    output: piped(stdout as Readable, exited),
    kill: () => child.kill("SIGKILL"),
  };
};

async function* piped(stdout: Readable, exited: Promise<void>): AsyncIterable<Buffer> {
  yield* stdout;
  await exited;
}

const startOnFile = (order: ToolSpec): ToolProcess => {
  const file = openTemporaryFile(order.maxOutputBytes);
  const child = start(order, file);
  const exited = exitOf(order.tool, child);
  return { input: child.stdin as Writable, output: filed(file, exited), kill: () => child.kill("SIGKILL") };
};

const start = (order: ToolSpec, output: "pipe" | number): ChildProcess => {
  const { tool, args, maxOutputBytes, deadlineMs, lowPriority } = order;
  const cpuSeconds = Math.ceil(deadlineMs / 1000);
  const limits = { cpuSeconds, memoryBytes, fileBytes: maxOutputBytes };
  const child = spawn(...limitedCommand(tool, args, limits), { stdio: ["pipe", output, "pipe"] });
  if (lowPriority) lowerPriority(child);
  return child;
};

const lowerPriority = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has exited already.
  }
};

async function* filed(file: number, exited: Promise<void>): AsyncIterable<Buffer> {
  try {
    await exited;
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const size = readSync(file, piece, 0, pieceBytes, at);
      if (size === 0) return;
      yield piece.subarray(0, size);
      at += size;
    }
  } finally {
    closeSync(file);
  }
}

const exitOf = (tool: string, child: ChildProcess): Promise<void> => {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < maxStderr) stderr += text;
  });
  const missing = () => new ToolFailed("missing", `${tool} could not be started.`);
  const exited = new Promise<void>((resolve, reject) => {
    child.on("error", () => reject(missing()));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else if (code === notFound) reject(missing());
      else reject(signalFailure(tool, signal ?? "") ?? exitFailure(tool, stderr));
    });
  });
  exited.catch(() => undefined);
  return exited;
};
