import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect } from "chai";
import { linesOutsideOfCode, pages, readPage, root } from "./pages.ts";

const maxReadmeBytes = 8 * 1024;
const maxOverviewBytes = 12 * 1024;
const maxColumns = 100;

/** Folders of the audio store. */
const audioFolders = ["public/", "private/", "audio/"];

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

const anchorsIn = (path: string): string[] =>
  linesOutsideOfCode(readPage(path)).flatMap((line) => {
    const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
    return heading === undefined ? [] : [anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"))];
  });

const linksIn = (path: string): string[] =>
  [
    ...linesOutsideOfCode(readPage(path))
      .join("\n")
      .replace(/`[^`\n]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

const isTable = (line: string): boolean => line.startsWith("|");
const isIndentedCode = (line: string): boolean => line.startsWith("    ");
const isPicture = (line: string): boolean => line.startsWith("![");

describe("the documents", () => {
  it("have a README of one screen and a half", () => {
    expect(Buffer.byteLength(readPage("README.md"))).to.be.at.most(maxReadmeBytes);
  });

  it("have an overview of the architecture of a few screens", () => {
    expect(Buffer.byteLength(readPage("docs/architecture/overview.md"))).to.be.at.most(maxOverviewBytes);
  });

  it("lead operators from the README to each task within two clicks", () => {
    const targetsIn = (path: string): string[] =>
      linksIn(path).map((link) => {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? path : relative(root, join(root, dirname(path), file));
        return anchor === undefined ? target : `${target}#${anchor}`;
      });
    const first = targetsIn("README.md");
    const pagesOfFirst = new Set(first.map((target) => target.split("#")[0] ?? ""));
    const second = [...pagesOfFirst].filter((page) => page.endsWith(".md")).flatMap(targetsIn);
    const operate = "docs/operate";
    const alerts = [...readPage("infra/prometheus/rules.yml").matchAll(/alert: (\w+)/g)];
    expect(alerts).not.to.deep.equal([]);
    expect([...first, ...second]).to.include.members([
      ...alerts.map(([, alert = ""]) => `${operate}/runbook.md#${alert.toLowerCase()}`),
      `${operate}/install.md#upgrade`,
      `${operate}/backup.md#make-a-backup`,
      `${operate}/backup.md#restore-it`,
      `${operate}/backup.md#archive-old-journals`,
      `${operate}/master-key.md#it-is-lost`,
      `${operate}/master-key.md#rotating-it`,
      `${operate}/master-key.md#the-seal-key`,
      `${operate}/websites-and-keys.md#suspend-a-key`,
      "docs/limits.md#of-one-keys-work",
    ]);
  });

  it("have links that lead to files and headings", () => {
    const broken = pages.flatMap((path) =>
      linksIn(path)
        .filter((link) => {
          const [file = "", anchor] = link.split("#");
          const target = file === "" ? path : relative(root, join(root, dirname(path), file));
          if (!existsSync(join(root, target))) return true;
          return anchor !== undefined && target.endsWith(".md") && !anchorsIn(target).includes(anchor);
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it("are where the code, the scripts and the deployments say that they are", () => {
    const missing = ["src", "projections", "scripts", "infra"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith(".png"))
        .map((entry) => join(entry.parentPath, entry.name))
        .flatMap((file) =>
          [...readFileSync(file, "utf8").matchAll(/\b(?:docs\/[\w/-]+|CONTRIBUTING|README)\.md/g)]
            .map(([path]) => path)
            .filter((path) => !existsSync(join(root, path)))
            .map((path) => `${relative(root, file)}: ${path}`),
        ),
    );
    expect(missing).to.deep.equal([]);
  });

  it("name only files and folders of the repository in the pages on its architecture", () => {
    const files = ["src", "projections", "test", "scripts", "infra", "voices", "docs"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
        const path = relative(root, join(entry.parentPath, entry.name));
        return entry.isDirectory() ? `/${path}/` : `/${path}`;
      }),
    );
    const folders = ["src", "projections", "test", "scripts", "infra", "voices"].map((name) => `/${name}/`);
    const known = [...files, ...folders];
    const missing = pages
      .filter((path) => path.startsWith("docs/architecture/"))
      .flatMap((path) =>
        [
          ...linesOutsideOfCode(readPage(path))
            .join("\n")
            .matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\/|\.ts))`/g),
        ]
          .map(([, named = ""]) => named)
          .filter((named) => !audioFolders.includes(named))
          .filter((named) => !known.some((one) => one.endsWith(`/${named}`)))
          .map((named) => `${path}: ${named}`),
      );
    expect(missing).to.deep.equal([]);
  });

  it("have lines of at most 100 columns, tables and code excepted", () => {
    const long = pages.flatMap((path) =>
      linesOutsideOfCode(readPage(path))
        .filter((line) => [...line].length > maxColumns && !/\S{100}/.test(line))
        .filter((line) => !isTable(line) && !isIndentedCode(line) && !isPicture(line))
        .map((line) => `${path}: ${line}`),
    );
    expect(long).to.deep.equal([]);
  });

  it("are all reached from the README", () => {
    const reached = new Set(["README.md"]);
    for (const path of reached) {
      if (!pages.includes(path)) continue;
      for (const link of linksIn(path)) {
        const [file = ""] = link.split("#");
        if (file !== "") reached.add(relative(root, join(root, dirname(path), file)));
      }
    }
    expect(pages.filter((path) => !reached.has(path))).to.deep.equal([]);
  });
});

describe("the comments of the source", () => {
  const comments = ["src", "projections", "scripts", "infra", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        readFileSync(join(root, folder, file), "utf8")
          .split("\n")
          .filter((line) => /^\s*(?:\/\*|\*|\/\/)/.test(line))
          .map((line) => ({ file: `${folder}/${file}`, line })),
      ),
  );

  it("have lines of at most 100 columns", () => {
    expect(comments.filter(({ line }) => [...line].length > maxColumns)).to.deep.equal([]);
  });

  it("of several lines begin each tag on a line of its own", () => {
    const inner = /^\s*\* .*\S (?:@throws|@param|@returns)\b|@throws$/;
    expect(comments.filter(({ line }) => inner.test(line))).to.deep.equal([]);
  });
});
