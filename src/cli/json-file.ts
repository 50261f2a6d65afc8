import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

/** Reads JSON from a file, or from standard input for `-`. Errors do not contain the text: it may be a secret. */
export const readJson = async (file: string): Promise<unknown> => {
  const json = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`${file === "-" ? "standard input" : file} is not JSON`);
  }
};
