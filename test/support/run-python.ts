import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

/** The interpreter that has the clients. */
export const python = resolve(import.meta.dirname, "../../.tools/python-clients/bin/python");

/**
 * Runs a Python script with the clients that scripts/python-clients installs. The script reads its input as JSON from standard
 * input and prints its result as JSON.
 * @throws {Error} with the script's error output unless it exits with 0
 */
export const runPython = async <Result>(file: string, input: unknown): Promise<Result> => {
  if (!existsSync(python)) {
    throw new Error(`${python} is missing: run scripts/python-clients (scripts/test does).`);
  }
  const child = spawn(python, [file], { env: { PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" } });
  child.stdin.on("error", () => {}); // A script that failed early reads nothing; its exit code says so.
  child.stdin.end(JSON.stringify(input));
  const ended = new Promise<number | string>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done(code ?? signal ?? "unknown"));
  });
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${errors}`);
  return JSON.parse(output) as Result;
};
