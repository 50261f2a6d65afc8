import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

/** Reads JSON from a file, or from standard input for `-`. */
export const readJson = async (file: string): Promise<unknown> => parseJson(await readText(file), file);

export const readText = (file: string): Promise<string> =>
  file === "-" ? text(process.stdin) : readFile(file, "utf8");

/** Errors name the file but do not contain the text: it may be a secret. */
export const parseJson = (json: string, file: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`${file === "-" ? "standard input" : file} is not JSON`);
  }
};
