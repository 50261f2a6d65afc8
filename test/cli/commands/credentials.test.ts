import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Services } from "../../../src/cli/command.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { credentialsStream } from "../../../src/domain/accounts/credentials.ts";
import type { ProviderCredentials } from "../../../src/domain/synthesis/byok-providers.ts";
import type { Provider } from "../../../src/engines/provider.ts";
import { runCli } from "../../support/cli-process.ts";
import { runCommand } from "../../support/command-line.ts";
import {
  fakeGoogle,
  masterKeys,
  openCredentialsInstance,
  operator,
  rightKey,
  textFrom,
} from "../../support/credentials-instance.ts";
import { duringSuite, duringTest } from "../../support/during.ts";

describe("the credentials commands", () => {
  const service = duringSuite(openCredentialsInstance);
  let website: string;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-cli-"));
  });
  beforeEach(async () => {
    website = await service.aWebsite();
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  const voxledger = async (...args: string[]) => {
    let [stdout, stderr] = ["", ""];
    const { credentials } = service;
    const services = { credentials, handOverSealKey: async () => {} } as unknown as Services;
    const program = createProgram(async (work) => work(services), {
      writeOut: (written) => {
        stdout += written;
      },
      writeErr: (written) => {
        stderr += written;
      },
    });
    const exitCode = await run(program, ["node", "voxledger", "credentials", ...args]);
    return { exitCode, stdout, stderr };
  };

  const file = async (content: unknown): Promise<string> => {
    const path = join(folder, "credentials.json");
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const set = async (content: unknown = { apiKey: rightKey }) =>
    voxledger("set", website, "gwn", await file(content));

  it("set credentials from a file and print the engine and provider", async () => {
    const { exitCode, stdout } = await set();
    expect(exitCode).to.equal(0);
    expect(stdout)
      .to.match(/^provider +google$/m)
      .and.to.match(/^voices +2$/m);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(rightKey);
  });

  it("accept a service account's key file in Google's format", async () => {
    const keyFile = {
      type: "service_account",
      project_id: "p",
      client_email: "tts@p.iam.gserviceaccount.com",
      private_key: rightKey,
      token_uri: "https://oauth2.googleapis.com/token",
    };
    expect((await set(keyFile)).exitCode).to.equal(0);
    expect(await textFrom(service.accountOf(website, "gwn"))).to.equal(rightKey);
  });

  it("list and remove credentials", async () => {
    await set();
    expect((await voxledger("list", website)).stdout).to.match(/^gwn +google +2 +2026-03-01T12:00:00.000Z$/m);
    expect(JSON.parse((await voxledger("list", website, "--json")).stdout)).to.have.length(1);
    const { stdout: all } = await voxledger("list");
    expect(all).to.match(new RegExp(`^${website} +gwn +google +2 +2026-03-01T12:00:00.000Z$`, "m"));
    expect((await voxledger("remove", website, "gwn")).exitCode).to.equal(0);
    expect((await voxledger("list", website)).stdout).to.equal("The website has no credentials.\n");
  });

  it("fail with the provider's message, without the credentials", async () => {
    for (const wrong of [
      { apiKey: "wrong-key-03fd" },
      '{"apiKey": wrong-key-03fd}',
      { apiKey: "wrong-key-03fd " },
    ]) {
      const { exitCode, stdout, stderr } = await set(wrong);
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr)
        .to.match(/^error: .+\n$/)
        .and.to.not.include("wrong-key-03fd");
    }
  });

  it("refuse free engines and credentials passed as an argument", async () => {
    for (const args of [
      ["set", website, "g1", "-"],
      ["set", website, "gwn"],
      ["set", website, "gwn", "-", rightKey],
      ["remove", website],
    ]) {
      expect((await voxledger(...args)).exitCode, args.join(" ")).to.equal(2);
    }
  });

  it("reencrypt all credentials, and fail if some cannot be opened", async () => {
    await set();
    const current = await voxledger("reencrypt", "--json");
    expect(current.exitCode).to.equal(0);
    expect(JSON.parse(current.stdout)).to.include({ reencrypted: 0 });

    const underLostKey = {
      engine: "gwn",
      ciphertext: "v1.x",
      keyId: "0123456789abcdef",
      at: "2026-03-01T12:00:00.000Z",
    };
    await service.append(`credentials-${website}`, "CredentialsReencrypted", underLostKey);
    const { exitCode, stdout, stderr } = await voxledger("reencrypt");
    expect(exitCode).to.equal(1);
    expect(stdout).to.include(`${website} (gwn)`);
    expect(stderr).to.match(/^error: .*MASTER_KEY_PREVIOUS.*\n$/);
  });
});

describe("the credentials commands while an instance has the log open", () => {
  const service = duringTest(() =>
    openCredentialsInstance({ providers: { gwn: fakeGoogle(), oai: openAi } }),
  );
  const [old] = masterKeys;
  const newKey = Buffer.alloc(32, 8);
  /** Describes credentials by what they contain. */
  const openAi: Provider<ProviderCredentials["oai"]> = {
    ...{ code: "oai", name: "openai", retirement: () => undefined },
    open: ({ apiKey }) => {
      const { engine, listVoices } = fakeGoogle().open({ apiKey });
      return { engine, listVoices };
    },
  };
  let website: string;

  beforeEach(async () => {
    website = await service.aWebsite();
    await service.credentials.set(website, "gwn", { apiKey: rightKey }, operator);
  });

  const voxledger = (args: readonly string[], env: Record<string, string> = {}) =>
    runCommand({ DATA_DIR: service.folder, ...env }, ["credentials", ...args]);

  it("list without a master key and do not create one", async () => {
    await service.credentials.set(website, "oai", { apiKey: rightKey, voices: ["alloy"] }, operator);
    const before = await readdir(service.folder);
    const { exitCode, stdout } = await voxledger(["list", website]);
    expect(exitCode).to.equal(0);
    expect(stdout).to.match(/^gwn +google +2 /m);
    expect(await readdir(service.folder)).to.deep.equal(before);
  });

  it("reencrypt under the new master key while an instance runs that has both", async () => {
    const keys = { MASTER_KEY: newKey.toString("base64"), MASTER_KEY_PREVIOUS: old.toString("base64") };
    const { exitCode, stdout } = await voxledger(["reencrypt", "--json"], keys);
    expect(exitCode).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ reencrypted: 1, current: 0, unopened: [] });
    const rotated = await openCredentialsInstance({ folder: service.folder, keys: [newKey] });
    expect(await textFrom(rotated.accountOf(website, "gwn"))).to.equal(rightKey);
    await rotated.close();
  });

  it("rotate from a key in DATA_DIR to a new one created there", async () => {
    const path = join(service.folder, "master.key");
    const keys = { MASTER_KEY_PREVIOUS: old.toString("base64") };
    expect((await voxledger(["reencrypt"], keys)).exitCode).to.equal(0);
    const made = Buffer.from(await readFile(path, "utf8"), "base64");
    const rotated = await openCredentialsInstance({ folder: service.folder, keys: [made] });
    expect(await textFrom(rotated.accountOf(website, "gwn"))).to.equal(rightKey);
    await rotated.close();
  });

  it("refuse to seal under a key that the log does not record", async () => {
    const recorded = { MASTER_KEY: old.toString("base64") };
    expect((await voxledger(["reencrypt"], recorded)).exitCode).to.equal(0);
    const wrong = { MASTER_KEY: newKey.toString("base64") };
    const file = join(service.folder, "credentials.json");
    await writeFile(file, JSON.stringify({ apiKey: rightKey }));
    for (const args of [["set", website, "gwn", file], ["reencrypt"]]) {
      const { exitCode, stderr } = await voxledger(args, wrong);
      expect(exitCode, args.join(" ")).to.equal(1);
      expect(stderr).to.match(/^error: MASTER_KEY: [^\n]+\n$/);
    }
    expect(await service.read(credentialsStream(website))).to.have.length(1);
  });

  it("remove credentials for running instances too", async () => {
    expect((await voxledger(["remove", website, "gwn"])).exitCode).to.equal(0);
    await service.caughtUp(`credentials-${website}`);
    expect(service.accountOf(website, "gwn")).to.equal(undefined);
  });

  it("refuse invalid credentials from standard input without repeating them", async () => {
    const env = { DATA_DIR: service.folder };
    const given = `{"apiKey": "${rightKey} "}`;
    const { exitCode, stderr } = await runCli(["credentials", "set", website, "gwn", "-"], env, given);
    expect(exitCode).to.equal(1);
    expect(stderr)
      .to.match(/^error: .+\n$/)
      .and.to.not.include(rightKey);
  });
});
