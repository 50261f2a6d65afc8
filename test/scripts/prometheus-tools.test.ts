import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { duringTest } from "../support/during.ts";

const script = join(import.meta.dirname, "../../scripts/prometheus-tools");

/** A copy of the script in a folder of its own, and programs that stand in for those of Debian. */
const openCopy = async () => {
  const path = await mkdtemp(join(tmpdir(), "voxledger-prometheus-tools-"));
  await mkdir(join(path, "scripts"));
  await mkdir(join(path, "bin"));
  const copy = join(path, "scripts/prometheus-tools");
  await cp(script, copy);
  return {
    program: async (name: string, lines: string) => {
      const file = join(path, "bin", name);
      await writeFile(file, `#!/bin/sh\n${lines}\n`);
      await chmod(file, 0o755);
    },
    run: () => promisify(execFile)(copy, { env: { PATH: `${join(path, "bin")}:${process.env.PATH}` } }),
    installed: () => readdir(join(path, ".tools"), { recursive: true }),
    close: () => rm(path, { recursive: true }),
  };
};

describe("scripts/prometheus-tools", () => {
  const copy = duringTest(openCopy);
  const failing = 'echo "E: Failed to fetch" >&2; exit 100';

  it("succeeds if the packages cannot be downloaded, says what is skipped, and leaves nothing", async () => {
    await copy.program("apt-get", failing);
    await copy.program("sudo", failing);
    const { stderr } = await copy.run();
    expect(stderr).to.include("E: Failed to fetch").and.include("prometheus.test.ts will be skipped");
    expect(await copy.installed()).to.deep.equal(["bin"]);
  });

  it("succeeds if a package is damaged, and leaves nothing", async () => {
    await copy.program("apt-get", "echo damaged >prometheus.deb");
    const { stderr } = await copy.run();
    expect(stderr).to.include("prometheus.deb could not be extracted: ");
    expect(await copy.installed()).to.deep.equal(["bin"]);
  });

  it("puts both tools into .tools/bin, and does nothing if they are there", async () => {
    await copy.program("apt-get", "touch prometheus.deb");
    const extract = "mkdir -p usr/bin; echo >usr/bin/promtool; echo >usr/bin/amtool; chmod +x usr/bin/*";
    await copy.program("dpkg-deb", extract);
    await copy.run();
    expect((await copy.installed()).sort()).to.deep.equal(["bin", "bin/amtool", "bin/promtool"]);
    expect((await copy.run()).stdout).to.equal("");
  });
});
