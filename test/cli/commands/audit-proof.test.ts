import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { composeAuditProof } from "../../../src/bootstrap/commands/audit-proof.ts";
import { composeCommandLine } from "../../../src/bootstrap/commands/command-line.ts";
import { operator, writing } from "../../../src/cli/command.ts";
import { registerAuditProofCommands } from "../../../src/cli/commands/audit-proof.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import type { Sealed } from "../../../src/domain/ledger/seals/seal.ts";
import { readSettings, type Settings } from "../../../src/settings/read-settings.ts";

describe("voxledger audit export and verify", () => {
  let folder: string;
  let settings: Settings;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-proof-"));
    settings = readSettings({ DATA_DIR: join(folder, "data") });
    await registerWebsite();
  });
  afterEach(() => rm(folder, { recursive: true }));

  const registerWebsite = async (): Promise<void> => {
    const services = await composeCommandLine(settings, writing);
    await services.websites.register({ name: "example.com", origins: [], plan: freePlan }, operator);
    await services.close();
  };
  const inFolder = (name: string): string => join(folder, name);
  const voxledger = async (...args: string[]) => {
    let stdout = "";
    let stderr = "";
    const writeOut = (text: string) => {
      stdout += text;
    };
    const writeErr = (text: string) => {
      stderr += text;
    };
    const program = createProgram(() => Promise.reject(new Error("not used")), { writeOut, writeErr });
    registerAuditProofCommands(
      program,
      composeAuditProof(() => settings),
    );
    return { exitCode: await run(program, ["node", "voxledger", "audit", ...args]), stdout, stderr };
  };

  it("accept a genuine export and the log", async () => {
    expect(await voxledger("export", inFolder("export"))).to.deep.include({ exitCode: 0, stderr: "" });
    for (const file of [[inFolder("export")], []]) {
      const { exitCode, stdout, stderr } = await voxledger("verify", ...file);
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
      const [genuine, ...unproven] = stdout.trimEnd().split("\n");
      expect(genuine).to.match(/^genuine: \d+ events and 1 seals, the last at .+ up to position \d+$/);
      expect(unproven.map((line) => line.split(": ")[0])).to.deep.equal(
        file.length > 0 ? [] : ["not sealed yet", "never sealed"],
      );
    }
  });

  it("refuse an edited export with exit code 1 and one line", async () => {
    await voxledger("export", inFolder("export"));
    const text = await readFile(inFolder("export"), "utf8");
    await writeFile(inFolder("edited"), text.replace("encrypted:v1.", "encrypted:v2."));
    const { exitCode, stdout, stderr } = await voxledger("verify", inFolder("edited"));
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
    expect(stderr).to.match(
      /^error: not genuine: line \d+ was changed: website-\S+ revision 0 \(WebsiteRegistered.+\n$/,
    );
  });

  it("verify an export with nothing but the public key", async () => {
    await voxledger("export", inFolder("export"));
    const key = await readFile(inFolder("data/seal.pub"), "utf8");
    settings = readSettings({ DATA_DIR: inFolder("other") });
    expect((await voxledger("verify", inFolder("export"))).stderr).to.include("it has no seal.pub");
    expect(await voxledger("verify", inFolder("export"), "--key", key)).to.deep.include({
      exitCode: 0,
      stderr: "",
    });
    const wrong = await voxledger("verify", inFolder("export"), "--key", "voxledger/x+00000000+AA==");
    expect(wrong).to.deep.include({
      exitCode: 1,
      stderr: "error: --key is not a verifier key: name+id+key\n",
    });
  });

  it("still verify the seals of an earlier key", async () => {
    settings = { ...settings, sealKey: Buffer.alloc(32, 1) };
    await voxledger("export", inFolder("first"));
    settings = { ...settings, sealKey: Buffer.alloc(32, 2) };
    await voxledger("export", inFolder("second"));
    expect((await voxledger("verify", inFolder("second"))).stdout).to.include("2 seals");
    const [current = ""] = (await readFile(inFolder("data/seal.pub"), "utf8")).split("\n");
    const { exitCode, stdout } = await voxledger("verify", inFolder("second"), "--key", current);
    expect(exitCode).to.equal(0);
    const [, first, second] = stdout.split("\n");
    expect(first).to.match(/^sealed up to position \d+ by voxledger\/\S+, which was not given$/);
    expect(second).to.match(/^then up to position \d+ by voxledger\/\S+, which was given$/);
  });

  it("find that a log was replaced after the auditor had kept a seal", async () => {
    await voxledger("export", inFolder("export"));
    const lines = (await readFile(inFolder("export"), "utf8")).split("\n");
    const { note } = JSON.parse(lines.at(-3) as string).data as Sealed;
    await writeFile(inFolder("kept"), note);
    expect((await voxledger("verify", "--seal", inFolder("kept"))).exitCode).to.equal(0);
    await rm(inFolder("data/events.db"));
    await voxledger("export", inFolder("rewritten"));
    const { exitCode, stderr } = await voxledger("verify", inFolder("rewritten"), "--seal", inFolder("kept"));
    expect({ exitCode, stderr }).to.deep.equal({
      exitCode: 1,
      stderr: "error: not genuine: no seal has the size of the kept one, 7\n",
    });
  });

  it("report a log without a seal as not verified, with exit code 1", async () => {
    await voxledger("export", inFolder("export")); // creates the keys
    await rm(inFolder("data/events.db"));
    await registerWebsite();
    const { exitCode, stdout, stderr } = await voxledger("verify");
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
    expect(stderr).to.match(/^error: not verified: the log has no seal\. .+ it is not genuine\n$/);
  });

  it("refuse a log without a seal if the auditor has kept one", async () => {
    await voxledger("export", inFolder("export"));
    const lines = (await readFile(inFolder("export"), "utf8")).split("\n");
    await writeFile(inFolder("kept"), (JSON.parse(lines.at(-3) as string).data as Sealed).note);
    await rm(inFolder("data/events.db"));
    await registerWebsite();
    const { exitCode, stderr } = await voxledger("verify", "--seal", inFolder("kept"));
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^error: not genuine: no seal has the size of the kept one, \d+\n$/);
  });

  it("never overwrite a file", async () => {
    await writeFile(inFolder("export"), "mine");
    expect((await voxledger("export", inFolder("export"))).exitCode).to.equal(1);
    expect(await readFile(inFolder("export"), "utf8")).to.equal("mine");
  });
});
