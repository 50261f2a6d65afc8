/**
 * Finds words that the glossary in CONTRIBUTING.md replaces by others: in names that the source
 * declares, in its comments and in the documents. Lists them, and exits with 1 if there are any.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export interface OldWord {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  /** What the glossary says instead. */
  readonly replacement: string;
}

/** Each old word, with what replaces it. */
export type Glossary = ReadonlyMap<string, Replacement>;

interface Replacement {
  readonly replacement: string;
  /** True if the word has another, right meaning elsewhere. */
  readonly isAmbiguous: boolean;
}

/** Reads the glossary's column "Not". The words in parentheses are ambiguous. */
export const readGlossary = (page: string): Glossary => {
  const [, section = ""] = page.split("\n## Words\n");
  const glossary = new Map<string, Replacement>();
  for (const row of section.split("\n## ", 1)[0]?.matchAll(/^\| ([^|]+) \|[^|]*\| ([^|]*) ?\|$/gm) ?? []) {
    const [, word = "", not = ""] = row;
    const add = (list: string, isAmbiguous: boolean): void => {
      for (const old of list.split(",").map((part) => part.trim())) {
        if (!/^[a-z]+$/.test(old)) continue;
        const replacement = [glossary.get(old)?.replacement, word.trim()].filter(Boolean).join(" or ");
        glossary.set(old, { replacement, isAmbiguous });
      }
    };
    add(not.replace(/\([^)]*\)/g, ""), false);
    for (const [, list = ""] of not.matchAll(/\(([^)]*)\)/g)) add(list, true);
  }
  return glossary;
};

/**
 * The folders in which ambiguous words are wrong in names. Elsewhere, and in prose, readers check
 * them.
 */
const strictFolders: readonly { readonly files: RegExp; readonly words: string }[] = [
  { files: /^src\/(async\/scheduler|subprocess\/(?!host\/models))/, words: "claim turn place order work" },
  { files: /^src\/(application|http\/routes)\/synthesis\/|^src\/audio\/pipeline\//, words: "whole left" },
  { files: /^(src|projections)\/(?!(application|bootstrap)\/clock\/)/, words: "uptime timers" },
];

/**
 * The files in which an old word is right: it is a name at the edge of the service, or has another
 * meaning.
 */
const exceptions: readonly { readonly files: RegExp; readonly words: string; readonly why: string }[] = [
  {
    files:
      /^src\/natural\/|phonemes|japanese\/phrases|spellings|min-duration|espeak\/library|word-times|natural-voices\.md$/,
    words: "sound",
    why: "A sound of a language.",
  },
  {
    files: /^src\/client\/|voice-engines|elevenlabs\.md$/,
    words: "sound",
    why: "The verb, what is heard, and types that the client exports.",
  },
  { files: /^src\/application\/audio\//, words: "sound", why: "A member of the responses of /admin/sounds." },
  { files: /min-duration/, words: "fence", why: "Code in Markdown is fenced." },
  { files: /^src\/(telemetry|subprocess)\//, words: "abandon", why: "A reason in metrics and errors." },
];

const isIn = (list: typeof strictFolders, file: string, word: string): boolean =>
  list.some(({ files, words }) => files.test(file) && words.split(" ").includes(word));

/** The old word that this is a form of. */
const oldWordOf = (glossary: Glossary, word: string): string | undefined => {
  const lower = word.toLowerCase();
  const stems = [/$/, /s$/, /es$/, /d$/, /ed$/, /ing$/].map((end) => lower.replace(end, ""));
  return [...stems, lower.replace(/ie[sd]$/, "y")].find((stem) => glossary.has(stem));
};

const wordsOfName = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z]+/);

/** Returns undefined for the members of objects: they repeat names that are declared elsewhere. */
const declaredName = (node: ts.Node): ts.Identifier | ts.PrivateIdentifier | undefined => {
  if (
    ts.isPropertyAccessExpression(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isImportSpecifier(node) ||
    ts.isExportSpecifier(node) ||
    (ts.isBindingElement(node) && !node.propertyName && ts.isObjectBindingPattern(node.parent))
  )
    return undefined;
  const { name } = node as ts.NamedDeclaration;
  return name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name : undefined;
};

type Report = (offset: number, words: readonly string[], isName?: boolean) => void;

const checkNames = (text: string, report: Report): void => {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    const name = declaredName(node);
    if (name) report(name.getStart(source), wordsOfName(name.text), true);
    ts.forEachChild(node, visit);
  };
  visit(source);
};

const code = /`[^`\n]*`|\{\w+\}/g;
const blank = (text: string): string => text.replace(/[^\n]/g, " ");

const checkProse = (text: string, report: Report): void => {
  for (const { index, 0: word } of text.replace(code, blank).matchAll(/[A-Za-z]+/g)) report(index, [word]);
};

const checkComments = (text: string, report: Report): void => {
  for (const { index, 0: comment } of text.matchAll(/\/\*.*?\*\/|(?<=^|\s)\/\/ [^\n]*/gs))
    checkProse(comment, (offset, words) => report(index + offset, words));
};

/** A page without its code, the glossary, and the changes of released versions. */
const proseOf = (page: string): string =>
  page
    .replace(/^ *```.*?^ *```$/gms, blank)
    .replace(/^## Words\n.*?(?=^## |(?!.))/ms, blank)
    .replace(/^## \[?\d.*/ms, blank)
    .replace(/\]\([^)]*\)/g, blank);

/** The old words in the name and the content of a file. */
export const findOldWords = (glossary: Glossary, file: string, text: string): OldWord[] => {
  const found: OldWord[] = [];
  const report: Report = (offset, words, isName = false) => {
    for (const part of words) {
      const word = oldWordOf(glossary, part);
      const old = word === undefined ? undefined : glossary.get(word);
      if (word === undefined || old === undefined || isIn(exceptions, file, word)) continue;
      if (old.isAmbiguous && !(isName && isIn(strictFolders, file, word))) continue;
      const line = text.slice(0, offset).split("\n").length;
      found.push({ file, line, word: part, replacement: old.replacement });
    }
  };
  report(0, wordsOfName(file), true);
  if (file.endsWith(".md")) checkProse(proseOf(text), report);
  else {
    checkNames(text, report);
    checkComments(text, report);
  }
  return found;
};

const checked = [
  "src/*.ts",
  "projections/*.ts",
  "scripts/*.ts",
  "docs/*.md",
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
];

if (import.meta.main) {
  const root = join(import.meta.dirname, "..");
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const glossary = readGlossary(read("CONTRIBUTING.md"));
  const files = execFileSync("git", ["ls-files", "--cached", "--", ...checked], {
    cwd: root,
    encoding: "utf8",
  });
  const found = files
    .trim()
    .split("\n")
    .flatMap((file) => findOldWords(glossary, file, read(file)));
  for (const { file, line, word, replacement } of found)
    console.error(
      `${file}:${line}: "${word}" is another word for ${replacement} (see the words in CONTRIBUTING.md)`,
    );
  if (found.length > 0) process.exitCode = 1;
}
