import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import type { Services } from "../../src/cli/command.ts";
import { createProgram, run } from "../../src/cli/program.ts";
import { openAdminServices } from "../application/accounts/admin-fixture.ts";
import { duringSuite } from "../support/during.ts";

describe("the command line", () => {
  const service = duringSuite(openAdminServices);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-cli-"));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  const voxledger = async (...args: string[]) => {
    let stdout = "";
    let stderr = "";
    const program = createProgram(async (work) => work(service as unknown as Services), {
      writeOut: (text) => {
        stdout += text;
      },
      writeErr: (text) => {
        stderr += text;
      },
    });
    const exitCode = await run(program, ["node", "voxledger", ...args]);
    return { exitCode, stdout, stderr };
  };

  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await voxledger(...args, "--json");
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };

  const failure = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await voxledger(...args);
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
    expect(stderr).to.match(/^error: .+\n$/);
    return stderr;
  };

  const aWebsite = () => json("website", "create", "Shop", "--origin", "https://shop.example");

  it("creates a website with its key and secret", async () => {
    const website = await json(
      ...["website", "create", "Shop", "--origin", "https://a.example", "https://b.example/"],
      ...["--plan", "commercial"],
    );
    expect(website).to.deep.include({ name: "Shop", origins: ["https://a.example", "https://b.example"] });
    expect((await service.keys.get(website.apiKey)).plan.tier).to.equal("commercial");
    expect(website.apiSecret).to.match(/^vls_/);
  });

  it("prints text by default and JSON on request", async () => {
    const { stdout } = await voxledger("website", "create", "Shop");
    expect(stdout).to.match(/^website +web_\w+$/m);
    expect(stdout).to.match(/^plan +free: 100 requests a minute, 1,000,000 characters a month$/m);
    expect(stdout).to.match(/^secret +vls_[\w-]+ \(shown this once\)$/m);
  });

  it("lists and shows websites", async () => {
    const { id } = await aWebsite();
    expect((await json("website", "list")).map((website: { id: string }) => website.id)).to.include(id);
    expect(await json("website", "show", id)).to.deep.equal(service.websites.get(id));
    expect((await voxledger("website", "list")).stdout).to.match(new RegExp(`^${id}  Shop `, "m"));
  });

  it("issues a token with which a website proves an origin", async () => {
    const { id } = await aWebsite();
    const { token, origin } = await json("website", "verification", id, "https://New.example/");
    expect(origin).to.equal("https://new.example");
    await service.originVerification.verify({ token, origin }, "r");
    expect(service.websites.get(id).origins).to.deep.equal(["https://shop.example", origin]);
    const { stdout } = await voxledger("website", "verification", id, "https://c.example");
    expect(stdout).to.match(/^token +vlv_[\w.-]+ \(shown this once\)$/m);
    expect(await failure("website", "verification", id, "c.example")).to.contain("origin: ");
  });

  it("configures a website from a file", async () => {
    const { id } = await aWebsite();
    const file = join(folder, "config.json");
    await writeFile(file, '{"voice": {"pitch": 1.5}}');
    expect((await json("website", "config", id, file)).storedConfig).to.deep.equal({ voice: { pitch: 1.5 } });
    expect(service.websites.get(id).config.voice.pitch).to.equal(1.5);
  });

  it("reports an invalid configuration in one line with the path", async () => {
    const { id } = await aWebsite();
    const file = join(folder, "wrong.json");
    await writeFile(file, '{"voice": {"pitch": 3, "speed": 1}}');
    const line = await failure("website", "config", id, file);
    expect(line).to.contain("voice.pitch: ").and.to.contain("voice.speed: ");
    await writeFile(file, "{");
    expect(await failure("website", "config", id, file)).to.contain("wrong.json is not JSON");
    expect(await failure("website", "config", id, join(folder, "absent.json"))).to.contain("ENOENT");
  });

  it("names --reason if it is empty", async () => {
    const { apiKey } = await aWebsite();
    expect(await failure("key", "suspend", apiKey, "--reason", " ")).to.equal(
      "error: --reason: must not be empty.\n",
    );
  });

  it("renames a website", async () => {
    const { id } = await aWebsite();
    expect(await json("website", "rename", id, "Market")).to.include({ id, name: "Market" });
    expect(await failure("website", "rename", id, "")).to.contain("name: ");
  });

  it("replaces origins and removes all only with --none", async () => {
    const { id } = await aWebsite();
    expect((await json("website", "origins", id, "https://new.example")).origins).to.deep.equal([
      "https://new.example",
    ]);
    expect((await voxledger("website", "origins", id)).exitCode).to.equal(2);
    expect((await voxledger("website", "origins", id, "https://a.example", "--none")).exitCode).to.equal(2);
    expect((await json("website", "origins", id, "--none")).origins).to.deep.equal([]);
  });

  it("issues, lists and shows keys", async () => {
    const { id, apiKey } = await aWebsite();
    const further = await json("key", "create", id);
    const keys = await json("key", "list", "--website", id);
    expect(keys.map((key: { apiKey: string }) => key.apiKey)).to.deep.equal([apiKey, further.apiKey]);
    expect(await json("key", "show", apiKey)).to.deep.equal(await service.keys.get(apiKey));
    expect((await voxledger("key", "list")).stdout).to.match(
      new RegExp(`^${apiKey} +${id} +active +free$`, "m"),
    );
  });

  it("changes a key's plan", async () => {
    const { apiKey } = await aWebsite();
    const numbers = ["--requests-per-minute", "5000", "--monthly-characters", "unlimited"];
    expect((await json("key", "plan", apiKey, "enterprise", ...numbers)).plan).to.deep.equal({
      tier: "enterprise",
      requestsPerMinute: 5_000,
      monthlyCharacters: null,
    });
    expect(await failure("key", "plan", apiKey, "enterprise")).to.contain("requestsPerMinute: ");
    expect(await failure("key", "plan", apiKey, "free", "--monthly-characters", "5")).to.contain(
      "enterprise",
    );
  });

  it("suspends and reinstates a key", async () => {
    const { apiKey } = await aWebsite();
    expect((await json("key", "suspend", apiKey, "--reason", "abuse")).suspension.reason).to.equal("abuse");
    expect((await voxledger("key", "show", apiKey)).stdout).to.match(/^suspended .+ by operator: abuse$/m);
    expect((await json("key", "reinstate", apiKey)).status).to.equal("active");
  });

  it("shows what happened to a key", async () => {
    const { apiKey, secretId } = await aWebsite();
    await json("key", "suspend", apiKey, "--reason", "abuse");
    await json("key", "plan", apiKey, "commercial");
    const types = (await json("key", "history", apiKey)).map(({ type }: { type: string }) => type);
    expect(types).to.deep.equal(["KeyIssued", "SecretCreated", "KeySuspended", "PlanChanged"]);
    const { stdout } = await voxledger("key", "history", apiKey);
    expect(stdout)
      .to.match(/^\d+ +2026-03-01T12:00:00.000Z +KeyIssued +cli +free: 100 requests a minute, /m)
      .and.to.match(new RegExp(` SecretCreated +cli +${secretId}$`, "m"))
      .and.to.match(/ KeySuspended +cli +operator: abuse$/m);
    expect(await failure("key", "history", "vlk_none")).to.equal("error: There is no such key.\n");
  });

  it("creates and revokes secrets", async () => {
    const { apiKey, secretId } = await aWebsite();
    const second = await json("secret", "create", apiKey);
    await json("secret", "revoke", apiKey, secretId);
    const left = (await service.keys.get(apiKey)).secrets.map((secret) => secret.secretId);
    expect(left).to.deep.equal([second.secretId]);
  });

  it("logs the command line as the actor", async () => {
    const { apiKey } = await aWebsite();
    const events = await service.read(`key-${apiKey}`);
    for (const { metadata } of events) expect(metadata).to.deep.equal({ actor: "cli" });
  });

  it("fails with one line and exit code 1", async () => {
    expect(await failure("website", "show", "web_none")).to.equal("error: There is no such website.\n");
    expect(await failure("key", "suspend", "vlk_none", "--reason", "x")).to.contain("no such key");
    expect(await failure("website", "create", "Shop", "--origin", "nonsense")).to.contain("origins.0: ");
    expect(await failure("website", "create", "")).to.match(/^error: /);
  });

  it("exits with code 2 for an unknown command", async () => {
    const { id, apiKey } = await aWebsite();
    const misuses = [
      [],
      ["nonsense"],
      ["website"],
      ["website", "show"],
      ["website", "list", "--nonsense"],
      ["key", "plan", apiKey, "gold"],
      ["key", "suspend", apiKey],
      ["key", "create", id, "--requests-per-minute", "many"],
    ];
    for (const args of misuses) {
      const { exitCode, stdout, stderr } = await voxledger(...args);
      expect({ exitCode, stdout }, args.join(" ")).to.deep.equal({ exitCode: 2, stdout: "" });
      expect(stderr, args.join(" ")).to.not.equal("");
    }
  });

  it("prints the version of the program", async () => {
    const { exitCode, stdout } = await voxledger("--version");
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 0, stdout: `${packageJson.version}\n` });
  });

  it("prints help on request", async () => {
    const { exitCode, stdout } = await voxledger("website", "--help");
    expect(exitCode).to.equal(0);
    expect(stdout).to.contain("create [options] <name>");
  });
});
