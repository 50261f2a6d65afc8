import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { runCli, spawnCli, spawnProgram } from "../support/cli-process.ts";
import { type CommandResult, runCommand } from "../support/command-line.ts";

const cli = join(import.meta.dirname, "../../src/cli.ts");
const runCommands = join(import.meta.dirname, "../support/run-commands.ts");

describe("the command line over one log", () => {
  let folder: string;
  let shop: { readonly id: string; readonly apiKey: string };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-cli-"));
    shop = await json(["website", "create", "Shop"]);
  });
  after(() => rm(folder, { recursive: true }));

  const voxledger = (args: readonly string[], { input = "", env = {} } = {}) =>
    runCli(args, { DATA_DIR: folder, ...env }, input);

  const json = async (args: readonly string[], input?: string) => {
    const { exitCode, stdout, stderr } = await voxledger(
      [...args, "--json"],
      input === undefined ? {} : { input },
    );
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };

  it("stores its changes for the next process", async () => {
    const { id, apiKey } = await json(["website", "create", "Shop"]);
    await json(["key", "suspend", apiKey, "--reason", "abuse"]);
    expect(await json(["key", "show", apiKey])).to.deep.include({ websiteId: id, status: "suspended" });
  });

  it("shares the log with running processes", async () => {
    const names = ["One", "Two", "Three"];
    await Promise.all(names.map((name) => json(["website", "create", name])));
    const { stdout } = await runCommand({ DATA_DIR: folder }, ["website", "list", "--json"]);
    const listed: { name: string }[] = JSON.parse(stdout);
    expect(listed.map(({ name }) => name)).to.include.members(names);
  });

  it("issues the key for which the Wyoming protocol will speak", async () => {
    const created = await voxledger(["website", "create", "Home"], { env: { WYOMING_PORT: "10200" } });
    expect(created).to.include({ exitCode: 0, stderr: "" });
  });

  it("reads a configuration from standard input", async () => {
    const shown = await json(["website", "config", shop.id, "-"], '{"sdkVersion": "v2"}');
    expect(shown.storedConfig).to.deep.equal({ sdkVersion: "v2" });
  });

  it("writes no secret in clear text to its folder", async () => {
    const { apiSecret } = await json(["secret", "create", shop.apiKey]);
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const contents = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name), "latin1")),
    );
    expect(contents.some((content) => content.includes(shop.apiKey))).to.equal(true);
    expect(contents.some((content) => content.includes(apiSecret))).to.equal(false);
  });

  it("fails with one line on standard error and exit code 1", async () => {
    for (const { exitCode, stdout, stderr } of [
      await voxledger(["key", "show", "vlk_none"]),
      await runCommand({ DATA_DIR: folder, PORT: "many" }, ["website", "list"]),
      await runCommand({ DATA_DIR: folder, EVENT_STORE: `sqlite:${cli}` }, ["website", "list"]),
    ]) {
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr).to.match(/^error: .+\n$/);
    }
  });

  it("opens no store for an unknown command and exits with code 2", async () => {
    const absent = join(folder, "absent");
    const { exitCode, stdout } = await voxledger(["nonsense"], { env: { DATA_DIR: absent } });
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 2, stdout: "" });
    expect(existsSync(absent)).to.equal(false);
  });

  it("fails if the log does not exist and does not create it", async () => {
    const absent = join(folder, "absent");
    for (const args of readingCommands("vlk_none", "web_none")) {
      const { exitCode, stdout, stderr } = await runCommand({ DATA_DIR: absent }, args);
      expect({ exitCode, stdout }, args.join(" ")).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr).to.match(/^error: DATA_DIR: .*no such file.*\n$/);
      expect(stderr).to.include(`${join(absent, "events.db")}. Set DATA_DIR to`);
    }
    expect(existsSync(absent)).to.equal(false);
    const slashed = await runCommand({ DATA_DIR: `${absent}/` }, ["website", "list"]);
    expect(slashed.stderr).to.match(/^error: DATA_DIR: /);
    const elsewhere = { EVENT_STORE: `sqlite:${join(absent, "log.db")}` };
    const { stderr } = await runCommand({ DATA_DIR: folder, ...elsewhere }, ["website", "list"]);
    expect(stderr).to.match(/^error: EVENT_STORE: .*no such file.*log\.db/);
  });

  it("reads a read-only log without changing it", async () => {
    const copy = await mkdtemp(join(tmpdir(), "voxledger-copy-"));
    try {
      const path = join(copy, "events.db");
      await cp(join(folder, "events.db"), path);
      const before = await readFile(path);
      await chmod(path, 0o444);
      await chmod(copy, 0o555);
      // File permissions do not apply to root.
      const options = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const commands = readingCommands(shop.apiKey, shop.id);
      const child = spawnProgram(runCommands, [JSON.stringify(commands)], { DATA_DIR: copy }, options);
      const [stdout, complaints, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "exit"),
      ]);
      expect(code, complaints).to.equal(0);
      const lines = stdout.trim().split("\n"); // some commands write to the process's output
      const results: CommandResult[] = JSON.parse(lines.at(-1) ?? "");
      expect(results).to.have.lengthOf(commands.length);
      for (const [index, { exitCode, stderr }] of results.entries()) {
        expect({ exitCode, stderr }, commands[index]?.join(" ")).to.deep.equal({ exitCode: 0, stderr: "" });
      }
      expect(await readdir(copy)).to.deep.equal(["events.db"]);
      expect(before.equals(await readFile(path))).to.equal(true);
    } finally {
      await chmod(copy, 0o700);
      await rm(copy, { recursive: true });
    }
  });

  it("exits normally when the reader closes the pipe", async () => {
    const child = spawnCli(["website", "list"], { DATA_DIR: folder });
    child.stdout.destroy();
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
  });
});

const readingCommands = (apiKey: string, websiteId: string): string[][] => [
  ["audit"],
  ["usage", apiKey],
  ["usage", "--all", "--day", "yesterday"],
  ["website", "list"],
  ["website", "show", websiteId],
  ["key", "list"],
  ["key", "show", apiKey],
  ["key", "history", apiKey],
  ["credentials", "list"],
  ["audio", "list"],
  ["voice", "list"],
  ["system-voice", "list"],
];
