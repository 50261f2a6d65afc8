import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tiers } from "../../src/domain/accounts/plan.ts";
import { readPage, root } from "./pages.ts";

const contributing = readPage("CONTRIBUTING.md");
const maxWords = 40;

const rowsOf = (heading: string): string[] => {
  const [, section = ""] = contributing.split(`\n## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  return table.split("\n").filter((line) => line.startsWith("| ") && !/^\| (Task|Word) \|/.test(line));
};
const tasks = rowsOf("What to change for common tasks");
const rowOf = (task: string): string => tasks.find((row) => row.startsWith(`| ${task}`)) ?? "";

const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
const isPath = (code: string): boolean => /^[\w.-]+\/[\w./-]*$|^[\w.-]+\.(ts|md|json|yml)$/.test(code);
const pathsIn = (text: string): string[] => codeIn(text).filter(isPath);

/**
 * The path in the repository. The name of something new stands for the folder that it is added to.
 */
const resolved = (path: string): string | undefined => {
  const [existing = ""] = path.split(/(?:NAME|RESOURCE|PRODUCT|COMMIT)/);
  return [join("src", existing), existing].find((candidate) => existsSync(join(root, candidate)));
};

const filesBelow = (path: string): string[] =>
  statSync(join(root, path)).isDirectory()
    ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
        .map((name) => join(path, name))
        .filter((file) => statSync(join(root, file)).isFile())
    : [path];

const filesOf = (row: string): string[] =>
  pathsIn(row).flatMap((path) => {
    const existing = resolved(path);
    return existing === undefined ? [] : [existing];
  });

const filesThatContain = (pattern: RegExp, ...globs: string[]): string[] =>
  globSync(globs, { cwd: root })
    .filter((file) => pattern.test(readFileSync(join(root, file), "utf8")))
    .toSorted();

describe("CONTRIBUTING.md", () => {
  it("names files and folders that exist", () => {
    const missing = pathsIn(contributing).filter((path) => resolved(path) === undefined);
    expect(missing).to.deep.equal([]);
  });

  it("names only what the files of the same task contain", () => {
    const missing = tasks.flatMap((row) => {
      const text = filesOf(row)
        .flatMap(filesBelow)
        .map((file) => readFileSync(join(root, file), "utf8"))
        .join("\n");
      return codeIn(row).filter((code) => !isPath(code) && !text.includes(code));
    });
    expect(missing).to.deep.equal([]);
  });

  it("names all files that list the tiers of plans", () => {
    const [tier] = tiers.filter((one) => one !== "free");
    const globs = ["application", "cli", "console", "domain"].map((folder) => `src/${folder}/**/*.ts`);
    const listing = filesThatContain(new RegExp(`\\b${tier}(?:"|:|</)`), ...globs);
    expect(filesOf(rowOf("Add a plan tier")).toSorted()).to.deep.equal(listing);
  });

  it("names the builders that pass views of projections", () => {
    const builders = filesThatContain(/\bview\((?:\w+)\)/, "src/bootstrap/**/*.ts");
    const named = filesOf(rowOf("Add a projection")).flatMap(filesBelow);
    expect(builders.filter((file) => !named.includes(file))).to.deep.equal([]);
  });

  it("names all files that fold or present the totals of servings", () => {
    const reading = filesThatContain(
      /\busageTotals\b|\bUsageTotals\b.*usage-totals/,
      "src/**/*.ts",
      "projections/*.ts",
    );
    expect(filesOf(rowOf("Sum up servings"))).to.include.members(reading);
  });

  it("asks newcomers for fifteen tasks", () => {
    expect(rowsOf("Fifteen tasks")).to.have.lengthOf(15);
  });

  it("defines at most forty words, in alphabetical order", () => {
    const words = rowsOf("Words").map((row) => row.split(" | ")[0] ?? "");
    expect(words.length).to.be.within(1, maxWords);
    expect(words).to.deep.equal(words.toSorted((one, other) => one.localeCompare(other, "en")));
  });
});
