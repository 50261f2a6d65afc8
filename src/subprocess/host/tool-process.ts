import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, readSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { ToolOrder } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { openUnnamedFile } from "./unnamed-file.ts";
import { exitFailure, killedFailure, type Work } from "./work.ts";

const pieceBytes = 64 * 1024;
const maxStderr = 4096;

/** Starts a speech tool: arguments as a list, no shell, and the text by standard input alone. */
export const startTool = (order: ToolOrder): Work =>
  order.output === "file" ? startOnFile(order) : startOnPipe(order);

const startOnPipe = ({ tool, args }: ToolOrder): Work => {
  const child = spawn(tool, args, { stdio: "pipe" });
  const exited = exitOf(tool, child);
  return { input: child.stdin, output: piped(child.stdout, exited), kill: () => child.kill("SIGKILL") };
};

async function* piped(stdout: Readable, exited: Promise<void>): AsyncIterable<Buffer> {
  yield* stdout;
  await exited;
}

const startOnFile = ({ tool, args, maxOutputBytes }: ToolOrder): Work => {
  const file = openUnnamedFile();
  const child = spawn(tool, args, { stdio: ["pipe", file, "pipe"] });
  const kill = () => child.kill("SIGKILL");
  // Nothing tells of a file's growth: one that grows past its bound is found out by looking.
  const watch = setInterval(() => {
    if (fstatSync(file).size > maxOutputBytes) kill();
  }, 100);
  const exited = exitOf(tool, child).finally(() => clearInterval(watch));
  const flood = () => fstatSync(file).size > maxOutputBytes;
  return { input: child.stdin as Writable, output: filed(tool, file, exited, flood), kill };
};

async function* filed(
  tool: string,
  file: number,
  exited: Promise<void>,
  flood: () => boolean,
): AsyncIterable<Buffer> {
  try {
    await exited.catch((error: unknown) => {
      throw flood() ? new ToolFailed("flood", `${tool} gave too much sound.`) : error;
    });
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
  const exited = new Promise<void>((resolve, reject) => {
    child.on("error", () => reject(new ToolFailed("missing", `${tool} could not be started.`)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(killedFailure(tool, signal ?? "") ?? exitFailure(tool, stderr));
    });
  });
  exited.catch(() => undefined);
  return exited;
};
