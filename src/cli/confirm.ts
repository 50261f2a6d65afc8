import { createInterface } from "node:readline/promises";

/**
 * Asks on the terminal to confirm what cannot be undone.
 * @throws unless the word is typed
 */
export const confirm = async (warning: string, word: string): Promise<void> => {
  if (!process.stdin.isTTY) throw new Error(`${warning} Without a terminal, confirm with --yes`);
  using lines = createInterface({ input: process.stdin, output: process.stderr });
  const given = await lines.question(`${warning} Type "${word}" to continue: `);
  if (given.trim() !== word) throw new Error("not confirmed: nothing was changed");
};
