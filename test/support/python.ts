import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/** The virtual environments that the scripts of these names install. */
export type PythonEnvironment = "python-clients" | "recogniser";

const interpreterOf = (environment: PythonEnvironment): string =>
  resolve(import.meta.dirname, `../../.tools/${environment}/bin/python`);

/** The interpreter that has the clients. */
export const python = interpreterOf("python-clients");

/**
 * A Python script with the packages of its environment. It responds to each line of JSON on its
 * standard input with one on its standard output. Importing a package takes a second, so one
 * process responds to all requests.
 */
export interface PythonScript {
  /**
   * Starts the script unless it runs.
   * @throws {Error} with its error output if it ends without a response
   */
  ask<Result>(input: unknown): Promise<Result>;
  /** Waits for the end of the process. */
  close(): Promise<void>;
}

export const openPython = (file: string, environment: PythonEnvironment = "python-clients"): PythonScript => {
  let running: ReturnType<typeof start> | undefined;
  return {
    ask: async (input) => {
      running ??= start(file, environment, () => {
        running = undefined;
      });
      return running.ask(input);
    },
    close: async () => running?.close(),
  };
};

const start = (file: string, environment: PythonEnvironment, onEnd: () => void) => {
  const interpreter = interpreterOf(environment);
  if (!existsSync(interpreter)) {
    throw new Error(`${interpreter} is missing: run scripts/${environment} (scripts/test does).`);
  }
  const child = spawn(interpreter, [file], { env: { PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" } });
  child.stdin.on("error", () => {}); // A script that failed early reads nothing; its exit code says so.
  const ended = once(child, "close").then(([code, signal]): number | string => code ?? signal);
  const errors = text(child.stderr);
  const responses = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    ask: async <Result>(input: unknown): Promise<Result> => {
      child.stdin.write(`${JSON.stringify(input)}\n`);
      const { value, done } = await responses.next();
      if (!done) return JSON.parse(value) as Result;
      onEnd();
      throw new Error(`${file} ended with ${await ended}: ${await errors}`);
    },
    close: async () => {
      child.stdin.end();
      const end = await ended;
      if (end !== 0) throw new Error(`${file} ended with ${end}: ${await errors}`);
    },
  };
};
