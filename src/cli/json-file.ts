import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

/** What a JSON file holds, or standard input for `-`. The failure repeats nothing of it: it may be a secret. */
export const readJson = async (file: string): Promise<unknown> => {
  const json = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`${file === "-" ? "standard input" : file} is not JSON`);
  }
};
