import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ToolSpec } from "../protocol.ts";
import type { Tool } from "../tools.ts";
import { exitOf, notStarted, type ToolProcess } from "./exit-failure.ts";
import { limitedCommand, type ToolLimits } from "./limited-command.ts";
import { lowerPriority } from "./lower-priority.ts";

const pieceBytes = 64 * 1024;
const memoryBytes = 256 * 1024 * 1024;
/** The exit code of a shell for an unknown command. */
const notFound = 127;

/** Starts a speech tool under resource limits. The text is passed on standard input only. */
export const startTool = (spec: ToolSpec): ToolProcess => {
  const file = spec.output === "file" ? openTemporaryFile(spec.maxOutputBytes) : undefined;
  const { tool, args, maxOutputBytes, deadlineMs, lowPriority } = spec;
  const cpuSeconds = Math.ceil(deadlineMs / 1000);
  const limits = { cpuSeconds, memoryBytes, fileBytes: maxOutputBytes };
  return startLimited(tool, args, { limits, output: file ?? "pipe", lowPriority });
};

interface StartOptions {
  readonly limits: ToolLimits;
  /** A file descriptor, or `pipe` to read standard output. */
  readonly output: "pipe" | number;
  readonly lowPriority: boolean;
}

export const startLimited = (
  tool: Tool,
  args: readonly string[],
  { limits, output, lowPriority }: StartOptions,
): ToolProcess => {
  const child = spawn(...limitedCommand(tool, args, limits), { stdio: ["pipe", output, "pipe"] });
  if (lowPriority) lowerPriority(child.pid);
  const exited = success(tool, child);
  exited.catch(() => undefined); // the output reports it
  return {
    input: child.stdin as Writable,
    output: output === "pipe" ? piped(child.stdout as Readable, exited) : filed(output, exited),
    kill: () => child.kill("SIGKILL"),
  };
};

async function* piped(stdout: Readable, exited: Promise<void>): AsyncIterable<Buffer> {
  yield* stdout;
  await exited;
}

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

/** @throws {ToolFailed} if the tool has failed */
const success = async (tool: string, child: ChildProcess): Promise<void> => {
  const { code, failure } = await exitOf(tool, child);
  if (code !== 0) throw code === notFound ? notStarted(tool) : failure;
};

/** The folders, in order of preference. Containers have 64 MB in /dev/shm by default. */
const folders = ["/dev/shm", tmpdir()];

/**
 * Opens an unnamed temporary file, which disappears with this process. It is in the first folder
 * with room for `bytes`, or in the one with the most room.
 * @throws if the folder is not writable
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
