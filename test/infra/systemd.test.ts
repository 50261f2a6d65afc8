import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { readSettings, settingNames } from "../../src/settings/read-settings.ts";
import { namesInEnv, read } from "./files.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

const unit = read("systemd/voxledger.service");
const lineOf = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";

/** The unit of an installation in this repository. */
const withUnit = async (use: (path: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-systemd-"));
  try {
    const path = join(folder, "voxledger.service");
    await writeFile(path, unit.replaceAll("/opt/voxledger", root));
    await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe("the systemd unit", () => {
  before(async function () {
    const isInstalled = await run("systemd-analyze", ["--version"]).then(
      () => true,
      () => false,
    );
    if (!isInstalled) this.skip();
  });

  it("passes systemd-analyze verify without a remark", () =>
    withUnit(async (path) => {
      const { stdout, stderr } = await run("systemd-analyze", ["verify", "--man=no", path]);
      expect(stdout + stderr).to.equal("");
    }));

  it("has an exposure of at most 2.0 of 10 by systemd-analyze security", () =>
    withUnit(async (path) => {
      await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", "--no-pager", path]);
    }));
});

describe("the files for systemd", () => {
  it("start the service with scripts/node, as npm start does, and stop it longer than a shutdown takes", () => {
    expect(lineOf("ExecStart")).to.equal("/opt/voxledger/scripts/node src/main.ts");
    const { drainSeconds, drainDelaySeconds } = readSettings({});
    expect(Number(lineOf("TimeoutStopSec"))).to.be.above(drainSeconds + drainDelaySeconds);
  });

  it("name only settings of the service", () => {
    const names = namesInEnv(read("systemd/voxledger.env.example"));
    const [, environment = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const ofUnit = environment.split(" ").map((assignment) => assignment.split("=")[0] ?? "");
    const ofNode = ["NODE_ENV", "NODE_COMPILE_CACHE"];
    const unknown = [...names, ...ofUnit].filter((name) => ![...settingNames, ...ofNode].includes(name));
    expect(unknown).to.deep.equal([]);
    expect(ofUnit).to.include("DATA_DIR");
  });
});
