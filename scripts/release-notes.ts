import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The files of a release, as texts. */
interface ReleaseFiles {
  readonly changelog: string;
  readonly packageJson: string;
  readonly packageLock: string;
}

/**
 * Returns the section of the changelog on the version.
 * @throws unless the changelog, package.json and package-lock.json agree on it
 */
export const releaseNotes = (version: string, files: ReleaseFiles): string => {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(`${version} is not a version such as 1.2.3`);
  for (const [name, text] of [
    ["package.json", files.packageJson],
    ["package-lock.json", files.packageLock],
  ] as const) {
    const { version: found } = JSON.parse(text) as { version: string };
    if (found !== version)
      throw new Error(`${name} has version ${found}: npm version --no-git-tag-version ${version}`);
  }
  const [, ...sections] = files.changelog.split(/^## /m);
  const [top = ""] = sections.filter((section) => !/^\[Unreleased\]\s*$/.test(section));
  const [heading = "", ...lines] = top.split("\n");
  if (!/^\[.+\] - \d{4}-\d\d-\d\d$/.test(heading) || !heading.startsWith(`[${version}] `))
    throw new Error(`CHANGELOG.md begins with "${heading}" instead of "[${version}] - YYYY-MM-DD"`);
  const notes = lines.join("\n").trim();
  if (notes === "") throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return notes;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const read = (name: string): string => readFileSync(join(import.meta.dirname, "..", name), "utf8");
  const [, , version = ""] = process.argv;
  try {
    const files = {
      changelog: read("CHANGELOG.md"),
      packageJson: read("package.json"),
      packageLock: read("package-lock.json"),
    };
    process.stdout.write(`${releaseNotes(version, files)}\n`);
  } catch (error) {
    process.stderr.write(`release: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
