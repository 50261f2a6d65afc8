import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ChildProcess {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: Interface;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export const fixturePath = (name: string): string =>
  fileURLToPath(new URL(`../eventstore/fixtures/${name}.ts`, import.meta.url));

/** Starts a program of test/eventstore/fixtures in a child process. */
export const startFixture = (name: string, ...args: string[]): ChildProcess => {
  const child = spawn(process.execPath, [fixturePath(name), ...args]);
  child.stderr.pipe(process.stderr);
  const ended = once(child, "close").then(([code, signal]): number | string => code ?? signal);
  return { process: child, lines: createInterface(child.stdout), ended };
};

export const linesOf = async ({ lines }: ChildProcess): Promise<string[]> => {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
};

/** Creates a directory, and removes it afterwards. */
export const withTemporaryFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-events-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
