import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ToolSpec } from "../protocol.ts";
import { ToolFailed } from "../tools.ts";
import { exitFailure, signalFailure, type ToolProcess } from "./exit-failure.ts";
import { limitedCommand } from "./limited-command.ts";
import { lowerPriority } from "./lower-priority.ts";

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
  if (lowPriority) lowerPriority(child.pid);
  return child;
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

/** In order of preference. Containers have 64 MB in /dev/shm by default. */
const folders = ["/dev/shm", tmpdir()];

/**
 * An unnamed temporary file, which disappears with its process. It is in the first directory with room for `bytes`, or
 * in the one with the most room. @throws if no directory is writable
 */
const openTemporaryFile = (bytes: number): number => {
  const byRoom = folders.map((folder) => ({ folder, room: roomIn(folder) }));
  const [first] = [...byRoom.filter(({ room }) => room >= bytes), ...byRoom.sort((a, b) => b.room - a.room)];
  const path = join(first?.folder ?? tmpdir(), `voxledger-${randomUUID()}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return file;
};

const roomIn = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
};
