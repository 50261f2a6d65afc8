import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "./service.ts";

const root = join(import.meta.dirname, "../..");

/** Runs mocha with the project's settings and these tests. */
const runMocha = async (...tests: string[]) => {
  const folder = await temporaryFolder();
  try {
    const file = join(folder.path, "one.test.cjs");
    await writeFile(file, tests.map((test) => `it("a test", () => { ${test} });\n`).join(""));
    const mocha = join(root, "node_modules/mocha/bin/mocha.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [mocha, file], {
      cwd: root,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  } finally {
    await folder.remove();
  }
};

describe("a test run", () => {
  it("succeeds with its summary", async () => {
    const { status, stdout, stderr } = await runMocha("");
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
    expect(stdout).to.include("1 passing");
  });

  it("fails when its process ends without a summary", async () => {
    const { status, stderr } = await runMocha("process.exit(0);");
    expect(status).to.equal(1);
    expect(stderr).to.include("ended before its summary");
  });

  it("fails with the number of its failures", async () => {
    const failure = 'throw new Error("a failure");';
    const { status, stderr } = await runMocha(failure, failure);
    expect({ status, stderr }).to.deep.equal({ status: 2, stderr: "" });
  });
});
