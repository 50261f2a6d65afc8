import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

const minCharacters = 12;

interface PassphraseOptions {
  /** The file that holds it. Default: the terminal. */
  readonly file: string | undefined;
  /** True if it is new: on a terminal it is asked twice. */
  readonly isNew: boolean;
}

/**
 * Reads a passphrase from a file or the terminal. It is never an argument, which other users of the
 * machine could read.
 * @throws if it is too short, or there is no terminal
 */
export const readPassphrase = async ({ file, isNew }: PassphraseOptions): Promise<string> => {
  const passphrase =
    file === undefined ? await askTerminal(isNew) : (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  if (passphrase.length >= minCharacters) return passphrase;
  throw new Error(`the passphrase must have at least ${minCharacters} characters`);
};

const askTerminal = async (isNew: boolean): Promise<string> => {
  if (!process.stdin.isTTY)
    throw new Error("there is no terminal to ask for the passphrase: name its file with --passphrase-file");
  const passphrase = await ask("Passphrase: ");
  if (isNew && (await ask("Again: ")) !== passphrase) throw new Error("the two passphrases differ");
  return passphrase;
};

/** Shows nothing of what is typed. */
const ask = async (question: string): Promise<string> => {
  process.stderr.write(question);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const interrupted = new AbortController();
  terminal.once("SIGINT", () => interrupted.abort());
  try {
    return await terminal.question("", { signal: interrupted.signal });
  } catch (cause) {
    throw new Error("interrupted", { cause });
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
};
