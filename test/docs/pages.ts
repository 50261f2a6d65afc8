import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** The documents of the repository, by path. */
export const pages: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
  "infra/README.md",
].toSorted();

export const readPage = (path: string): string => readFileSync(join(root, path), "utf8");

/** A fenced block of code. */
export interface Snippet {
  readonly language: string;
  /** The file that readers save it as; empty if none is named. */
  readonly file: string;
  readonly text: string;
}

export const snippetsOf = (page: string): Snippet[] =>
  [...page.matchAll(/^( *)```(\w*)(?: (\S+))?\n(.*?)^ *```$/gms)].map(
    ([, indent = "", language = "", file = "", text = ""]) => ({
      language,
      file,
      text: text.replace(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );

/** True for files that a reader writes and commands that a reader runs. */
export const isTyped = ({ language, file }: Snippet): boolean =>
  file !== "" || language === "console" || language === "sh";

/** The lines of a page without its blocks of code. */
export const linesOutsideOfCode = (page: string): string[] =>
  page.replace(/^ *```.*?^ *```$/gms, "").split("\n");
