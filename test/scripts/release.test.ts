import { execFile } from "node:child_process";
import { chmod, cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { releaseNotes } from "../../scripts/release-notes.ts";
import { duringTest } from "../support/during.ts";
import { temporaryFolder } from "../support/service.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

const files = {
  changelog:
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n### Added\n- Speech.\n\n## [1.1.0] - 2026-11-01\n\n- Old.\n",
  packageJson: '{ "version": "1.2.0", "type": "module" }',
  packageLock: '{ "version": "1.2.0" }',
};

describe("the notes of a release", () => {
  it("are the changelog's top section with text", () => {
    expect(releaseNotes("1.2.0", files)).to.equal("### Added\n- Speech.");
  });

  it("are refused if changelog, package.json or package-lock.json has another version", () => {
    expect(() => releaseNotes("1.3.0", files)).to.throw("package.json has version 1.2.0");
    const old = { ...files, packageLock: '{ "version": "1.1.0" }' };
    expect(() => releaseNotes("1.2.0", old)).to.throw("package-lock.json has version 1.1.0");
    for (const heading of [
      "[Unreleased]\n\n- More.",
      "[1.2.0]\n\n- More.",
      "[1.3.0] - 2026-12-01\n\n- More.",
    ]) {
      const changelog = `# Changelog\n\n## ${heading}\n\n## [1.2.0] - 2026-12-01\n\n- Speech.\n`;
      expect(() => releaseNotes("1.2.0", { ...files, changelog }), heading).to.throw(
        "CHANGELOG.md begins with",
      );
    }
    const changelog = "# Changelog\n\n## [1.2.0] - 2026-12-01\n";
    expect(() => releaseNotes("1.2.0", { ...files, changelog })).to.throw("says nothing");
    expect(() => releaseNotes("v1.2.0", files)).to.throw("not a version");
  });
});

/** A repository with the script, and programs in place of the tests and of what is recorded. */
const openRepository = async () => {
  const { path, remove } = await temporaryFolder();
  await mkdir(join(path, "scripts"));
  await mkdir(join(path, ".ci"));
  await mkdir(join(path, "bin"));
  await mkdir(join(path, "test/recorded"), { recursive: true });
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  for (const name of ["release", "release-notes.ts"])
    await cp(join(root, "scripts", name), join(path, "scripts", name));
  const programs = {
    "scripts/node": `exec "${process.execPath}" "$@"`,
    ".ci/run": 'echo tested >>"$CALLS"; [ ! -e broken ]',
    "bin/npm": 'echo "npm $*" >>"$CALLS"',
    "bin/npx": 'echo "npx $*" >>"$CALLS"',
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(path, name), `#!/usr/bin/env bash\n${script}\n`);
    await chmod(join(path, name), 0o755);
  }
  const recorder = `import { mkdirSync, writeFileSync } from "node:fs";
const [, , folder] = process.argv;
mkdirSync(folder);
writeFileSync(folder + "/recorded.json", "{}");
`;
  await writeFile(join(path, "test/recorded/record.ts"), recorder);
  await writeFile(join(path, "CHANGELOG.md"), files.changelog);
  await writeFile(join(path, "package.json"), files.packageJson);
  await writeFile(join(path, "package-lock.json"), files.packageLock);
  await writeFile(join(path, ".gitignore"), "node_modules\ncalls\n");
  const env = {
    PATH: `${join(path, "bin")}:${process.env.PATH}`,
    HOME: path,
    CALLS: join(path, "calls"),
    ...{ GIT_AUTHOR_NAME: "Test", GIT_AUTHOR_EMAIL: "test@example.com" },
    ...{ GIT_COMMITTER_NAME: "Test", GIT_COMMITTER_EMAIL: "test@example.com" },
  };
  const git = async (...args: string[]): Promise<string> =>
    (await run("git", args, { cwd: path, env })).stdout.trim();
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Release 1.2.0");
  const release = (version: string) =>
    run("scripts/release", [version], { cwd: path, env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }) => ({ code, text: stderr }),
    );
  return { path, git, release, close: remove };
};

describe("scripts/release", () => {
  const repository = duringTest(openRepository);

  it("tests, records an installation, and tags the commit that has it with the changelog's section", async () => {
    const { code, text } = await repository.release("1.2.0");
    expect(code, text).to.equal(0);
    expect(await repository.git("log", "--format=%s")).to.equal(
      "Record an installation of version 1.2.0\nRelease 1.2.0",
    );
    expect(await repository.git("rev-parse", "v1.2.0^{commit}")).to.equal(
      await repository.git("rev-parse", "HEAD"),
    );
    expect(await repository.git("cat-file", "-t", "v1.2.0")).to.equal("tag");
    expect(await repository.git("tag", "--list", "--format=%(contents)", "v1.2.0")).to.equal(
      "Voxledger 1.2.0\n\n### Added\n- Speech.",
    );
    expect(await repository.git("ls-files", "test/recorded/1.2.0")).to.equal(
      "test/recorded/1.2.0/recorded.json",
    );
    expect(await repository.release("1.2.0")).to.include({
      code: 1,
      text: "release: the tag v1.2.0 exists already\n",
    });
  });

  it("tags nothing if a test fails, and continues when it is repeated", async () => {
    await writeFile(join(repository.path, ".git/info/exclude"), "broken\n");
    await writeFile(join(repository.path, "broken"), "");
    expect((await repository.release("1.2.0")).code).to.equal(1);
    expect(await repository.git("tag")).to.equal("");
    await run("rm", [join(repository.path, "broken")]);
    expect((await repository.release("1.2.0")).code).to.equal(0);
    expect(await repository.git("tag")).to.equal("v1.2.0");
  });

  it("refuses changes that are not committed, and versions that do not agree", async () => {
    expect((await repository.release("1.3.0")).text).to.include("package.json has version 1.2.0");
    await writeFile(join(repository.path, "more"), "");
    expect((await repository.release("1.2.0")).text).to.equal(
      "release: commit or remove your changes first\n",
    );
    expect(await repository.git("tag")).to.equal("");
  });
});
