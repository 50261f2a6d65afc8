import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { collect } from "../support/collect.ts";
import { failToStart, startInstance } from "../support/instance.ts";
import { temporaryFolder } from "../support/service.ts";

const run = promisify(execFile);
const [old, next] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];

describe("Instances that share a log", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let log: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    log = join(folder.path, "events.db");
  });
  afterEach(() => folder.remove());

  /** The log output of an instance with its own data directory. */
  const environment = (keys: Record<string, string>) => ({
    DATA_DIR: join(folder.path, "instance"),
    EVENT_STORE: `sqlite:${log}`,
    ...keys,
  });
  const startAndStop = async (keys: Record<string, string>): Promise<void> => {
    const { DATA_DIR, ...env } = environment(keys);
    expect(await (await startInstance(DATA_DIR, env)).stop()).to.equal(0);
  };
  const refuses = async (keys: Record<string, string>): Promise<void> => {
    const { code, stdout, stderr } = await failToStart({
      PORT: "0",
      LOG_LEVEL: "warn",
      ...environment(keys),
    });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.match(
      /^voxledger: MASTER_KEY: this key is [0-9a-f]{16}, the log's is [0-9a-f]{16}: [^\n]+\n$/,
    );
    for (const key of Object.values(keys)) expect(stderr).not.to.include(key);
  };

  it("start only with the master key that the log records, which stores only the key's id", async () => {
    await startAndStop({ MASTER_KEY: old });
    await refuses({ MASTER_KEY: next });
    await startAndStop({ MASTER_KEY: old });
    const store = await openSqliteEventStore({ path: log, readOnly: true });
    const events = await collect(store.readStream("master-key"));
    await store.close();
    expect(events.map(({ type }) => type)).to.deep.equal(["MasterKeyRecorded"]);
    expect(events[0]?.data).to.have.all.keys("keyId", "at");
    expect(JSON.stringify(events)).not.to.include(old);
  });

  it("can be restarted one by one with another key, and with the old one again until the credentials are reencrypted", async () => {
    await startAndStop({ MASTER_KEY: old });
    await startAndStop({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old });
    await startAndStop({ MASTER_KEY: old, MASTER_KEY_PREVIOUS: next });
    await startAndStop({ MASTER_KEY: old });
    await refuses({ MASTER_KEY: next });
    const env = environment({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old });
    await run(process.execPath, ["src/cli.ts", "credentials", "reencrypt"], { env });
    await startAndStop({ MASTER_KEY: next });
    await startAndStop({ MASTER_KEY: old, MASTER_KEY_PREVIOUS: next });
    await refuses({ MASTER_KEY: old });
  });

  it("do not start over EventStoreDB without a master key, because each would generate its own", async () => {
    for (const keys of [{}, { MASTER_KEY: "" }]) {
      const env = { ...environment(keys), EVENT_STORE: "esdb://127.0.0.1:1?tls=false" };
      const { code, stderr } = await failToStart({ PORT: "0", ...env });
      expect(code).to.equal(1);
      expect(stderr).to.match(/^voxledger: MASTER_KEY: must be set[^\n]+\n$/);
    }
  });

  it("do not start with an unknown setting, and name it with the setting that it resembles", async () => {
    const { code, stderr } = await failToStart({ ...environment({}), EVENTSTORE: "esdb://a:s3cr3t@b:2113" });
    expect(code).to.equal(1);
    expect(stderr).to.equal("voxledger: EVENTSTORE: there is no such setting; did you mean EVENT_STORE?\n");
  });
});
