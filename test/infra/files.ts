import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const infra = join(import.meta.dirname, "../../infra");

export const read = (file: string): string => readFileSync(join(infra, file), "utf8");

/** The one document of a YAML file, its anchors followed. @throws on anything that is not well-formed, warnings too */
export const readYaml = (file: string): unknown => {
  const [document, ...more] = parseAllDocuments(read(file), { merge: true });
  if (document === undefined || more.length > 0) throw new Error(`${file} is not one document`);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw problem;
  return document.toJS();
};

/** Files of a folder, by the end of their names. */
export const list = (folder: string, end: string): string[] =>
  readdirSync(join(infra, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

/** The names that a file in the form of a shell's gives values to, with those that are commented out. */
export const namesInEnv = (text: string): string[] =>
  [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = ""]) => name);
