import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

const cli = resolve(import.meta.dirname, "../../src/cli.ts");

/** Starts a program of this repository with these settings alone. */
export const spawnProgram = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  options: SpawnOptions = {},
) => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [program, ...args], {
    ...options,
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: "pipe",
  });
};

/** Starts the command line. */
export const spawnCli = (args: readonly string[], env: NodeJS.ProcessEnv) => spawnProgram(cli, args, env);

/** Runs the command line in a process of its own. */
export const runCli = async (args: readonly string[], env: NodeJS.ProcessEnv, input = "") => {
  const child = spawnCli(args, env);
  child.stdin.end(input);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { exitCode, stdout, stderr };
};
