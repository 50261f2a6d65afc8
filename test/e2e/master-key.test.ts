import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { collect } from "../support/collect.ts";
import { runCommand } from "../support/command-line.ts";
import { duringTest } from "../support/during.ts";
import { startError, startInProcessService } from "../support/in-process-service.ts";
import { failToStart } from "../support/instance.ts";
import { temporaryFolder } from "../support/service.ts";

const [old, next] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];

describe("Instances that share a log", () => {
  const folder = duringTest(temporaryFolder);
  let log: string;
  beforeEach(async () => {
    log = join(folder.path, "events.db");
  });

  /** The environment of an instance with its own data directory. */
  const environment = (keys: Record<string, string>) => ({
    DATA_DIR: join(folder.path, "instance"),
    EVENT_STORE: `sqlite:${log}`,
    ...keys,
  });
  const startAndStop = async (keys: Record<string, string>): Promise<void> => {
    const service = await startInProcessService(environment(keys));
    await service.close();
  };
  const refusal = "MASTER_KEY: this key is [0-9a-f]{16}, the log's is [0-9a-f]{16}: [^\\n]+";
  const refuses = async (keys: Record<string, string>): Promise<void> => {
    const error = await startError(environment(keys));
    expect(error).to.match(new RegExp(`^${refusal}$`));
    for (const key of Object.values(keys)) expect(error).not.to.include(key);
  };

  it("start only with the master key that the log records, which stores only the key's id", async () => {
    await startAndStop({ MASTER_KEY: old });
    const env = { PORT: "0", LOG_LEVEL: "warn", ...environment({ MASTER_KEY: next }) };
    const { code, stdout, stderr } = await failToStart(env);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr)
      .to.match(new RegExp(`^voxledger: ${refusal}\\n$`))
      .and.not.to.include(next);
    await startAndStop({ MASTER_KEY: old });
    const store = await openSqliteEventStore({ path: log, readOnly: true });
    const events = await collect(store.readStream("master-key"));
    await store.close();
    expect(events.map(({ type }) => type)).to.deep.equal(["MasterKeyRecorded", "NamingKeyCreated"]);
    expect(events[0]?.data).to.have.all.keys("keyId", "at");
    expect(events[1]?.data).to.have.all.keys("ciphertext", "keyId", "at");
    expect(JSON.stringify(events)).not.to.include(old);
  });

  it("can be restarted one by one with another key, and with the old one again until the credentials are reencrypted", async () => {
    await startAndStop({ MASTER_KEY: old });
    await startAndStop({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old });
    await startAndStop({ MASTER_KEY: old, MASTER_KEY_PREVIOUS: next });
    await startAndStop({ MASTER_KEY: old });
    await refuses({ MASTER_KEY: next });
    const env = environment({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old });
    expect(await runCommand(env, ["credentials", "reencrypt"])).to.include({ exitCode: 0, stderr: "" });
    await startAndStop({ MASTER_KEY: next });
    await startAndStop({ MASTER_KEY: old, MASTER_KEY_PREVIOUS: next });
    await refuses({ MASTER_KEY: old });
  });

  it("do not start without the recorded key, and create no other one in its place", async () => {
    const env = { DATA_DIR: folder.path };
    await startAndStop({ ...env, MASTER_KEY: "" });
    const file = join(folder.path, "master.key");
    const key = (await readFile(file, "utf8")).trim();
    await rm(file);
    const refused =
      "DATA_DIR: it has no master\\.key, and the log's master key is [0-9a-f]{16}: put that key there, or set MASTER_KEY. If it is lost, see docs/operate/master-key\\.md";
    const ownEnvironment = { ...environment({}), ...env };
    expect(await startError(ownEnvironment)).to.match(new RegExp(`^${refused}$`));
    const { exitCode, stderr } = await runCommand(ownEnvironment, ["credentials", "reencrypt"]);
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(new RegExp(`^error: ${refused}\\n$`));
    expect(await readdir(folder.path)).not.to.include("master.key");
    await startAndStop({ ...env, MASTER_KEY: "", MASTER_KEY_PREVIOUS: key });
    expect((await readFile(file, "utf8")).trim()).not.to.equal(key);
  });

  it("do not start over EventStoreDB without a master key, because each would generate its own", async () => {
    for (const keys of [{}, { MASTER_KEY: "" }]) {
      const error = await startError({ ...environment(keys), EVENT_STORE: "esdb://127.0.0.1:1?tls=false" });
      expect(error).to.match(/^MASTER_KEY: must be set[^\n]+$/);
    }
  });
});
