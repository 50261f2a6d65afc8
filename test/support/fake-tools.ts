import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "../../src/subprocess/tools.ts";

export type FakeTools = Awaited<ReturnType<typeof placeFakeTools>>;

/** A directory, for PATH, with shell scripts instead of tools. */
export const placeFakeTools = async () => {
  const directory = await mkdtemp(join(tmpdir(), "voxledger-tools-"));
  return {
    directory,
    /** Replaces the tool. */
    place: (tool: Tool, script: string): Promise<void> =>
      writeFile(join(directory, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    remove: (): Promise<void> => rm(directory, { recursive: true, force: true }),
  };
};
