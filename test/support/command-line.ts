import type { Command } from "commander";
import type { Machine } from "../../src/bootstrap/clock/service-clock.ts";
import { composeCommandLine } from "../../src/bootstrap/commands/command-line.ts";
import { createProgram, run } from "../../src/cli/program.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import type { Credentials } from "./client.ts";

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command with these settings in this process. Opens the stores for itself, as it does in a
 * process of its own. `register` adds the commands that `createProgram` does not have. `machine`:
 * the machine whose clock the command uses. Default: this one.
 */
export const runCommand = async (
  env: Record<string, string>,
  args: readonly string[],
  register: (program: Command) => void = () => {},
  machine?: Machine,
): Promise<CommandResult> => {
  let [stdout, stderr] = ["", ""];
  const program = createProgram(
    async (work, access = { writes: false }) => {
      const services = await composeCommandLine(readSettings(env), access, machine && { machine });
      try {
        return await work(services);
      } finally {
        await services.close();
      }
    },
    {
      writeOut: (text) => {
        stdout += text;
      },
      writeErr: (text) => {
        stderr += text;
      },
    },
  );
  register(program);
  const exitCode = await run(program, ["node", "voxledger", ...args]);
  return { exitCode, stdout, stderr };
};

/** Registers a website as `registerWebsite` does, for a service that needs its key as a setting. */
export const createWebsite = async (dataDir: string): Promise<Credentials> => {
  const limits = ["--requests-per-minute", "1000000", "--monthly-characters", "unlimited"];
  const args = ["website", "create", "Home", "--plan", "enterprise", ...limits, "--json"];
  const { stdout, stderr } = await runCommand({ DATA_DIR: dataDir }, args);
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout);
};
