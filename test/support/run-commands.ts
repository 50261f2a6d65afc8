/**
 * Runs commands with the settings of this process, one after the other. Argument: their arguments
 * in JSON. The last line of its output is their results, in JSON.
 */
import { type CommandResult, runCommand } from "./command-line.ts";

const settings = { PATH: process.env.PATH ?? "", DATA_DIR: process.env.DATA_DIR ?? "" };
const results: CommandResult[] = [];
for (const args of JSON.parse(process.argv[2] ?? "[]")) results.push(await runCommand(settings, args));
console.log(JSON.stringify(results));
