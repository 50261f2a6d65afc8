import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const infra = join(import.meta.dirname, "../../infra");

export const read = (file: string): string => readFileSync(join(infra, file), "utf8");

/**
 * The only document of a YAML file, with its anchors resolved.
 * @throws on any parse error or warning
 */
export const readYaml = (file: string): unknown => {
  const [document, ...more] = parseAllDocuments(read(file), { merge: true });
  if (document === undefined || more.length > 0) throw new Error(`${file} is not one document`);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw problem;
  return document.toJS();
};

/** The files of a folder, recursively, whose names end with `end`. */
export const list = (folder: string, end: string): string[] =>
  readdirSync(join(infra, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

/** The variables that an env file assigns, including those in commented-out assignments. */
export const namesInEnv = (text: string): string[] =>
  [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = ""]) => name);
