import { execFile } from "node:child_process";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { deriveKey, deriveKeys, obtainMasterKey, obtainMasterKeys } from "../../src/bootstrap/master-key.ts";
import { sharedPaths } from "../../src/bootstrap/private-directory.ts";
import { startThreads } from "../../src/eventstore/sqlite/threads.ts";
import { BadSetting } from "../../src/settings/read-settings.ts";
import { duringTest } from "../support/during.ts";
import { rejection } from "../support/rejection.ts";
import { temporaryFolder } from "../support/service.ts";

const run = promisify(execFile);

/** Prints the key that a separate process obtains. */
const program = (dataDir: string): string => `
  const { obtainMasterKey } = await import(${JSON.stringify(join(import.meta.dirname, "../../src/bootstrap/master-key.ts"))});
  const key = await obtainMasterKey({ dataDir: ${JSON.stringify(dataDir)}, eventStore: { kind: "sqlite", path: "" } });
  console.log(key.toString("base64"));
`;

const eventStore = { kind: "sqlite", path: "" } as const;
const base = { masterKey: undefined, previousMasterKeys: [], eventStore, streamPrefix: "" };

describe("the master key", () => {
  const folder = duringTest(temporaryFolder);

  const obtain = (dataDir = folder.path) => obtainMasterKey({ ...base, dataDir });

  it("is the configured one, which is not written to a file", async () => {
    const masterKey = Buffer.alloc(32, 5);
    expect(await obtainMasterKey({ ...base, masterKey, dataDir: folder.path })).to.equal(masterKey);
    expect(await readdir(folder.path)).to.deep.equal([]);
  });

  it("must be set when EVENT_STORE is EventStoreDB: each instance would create a different one", async () => {
    const shared = { kind: "esdb", url: "esdb://cluster.example:2113" } as const;
    expect(await rejection(obtainMasterKey({ ...base, dataDir: folder.path, eventStore: shared })))
      .to.be.instanceOf(BadSetting)
      .with.property("message")
      .that.matches(/^MASTER_KEY: must be set[^\n]+$/);
    expect(await readdir(folder.path)).to.deep.equal([]);
  });

  it("is created once, readable only by its owner", async () => {
    const dataDir = join(folder.path, "data");
    const key = await obtain(dataDir);
    expect(key).to.have.length(32);
    expect((await obtain(dataDir)).equals(key)).to.equal(true);
    expect(await readdir(dataDir)).to.deep.equal(["master.key"]);
    expect((await stat(join(dataDir, "master.key"))).mode & 0o777).to.equal(0o600);
  });

  it("is named, like its directory, if other users may read or change it", async () => {
    const dataDir = join(folder.path, "data");
    const file = join(dataDir, "master.key");
    await obtain(dataDir);
    const paths = [dataDir, file, join(dataDir, "missing")];
    expect(await sharedPaths(paths)).to.deep.equal([]);
    for (const mode of [0o604, 0o640, 0o620, 0o601]) {
      await chmod(file, mode);
      const warning = `${file} is accessible to other users: chmod go= ${file}`;
      expect(await sharedPaths(paths), mode.toString(8)).to.deep.equal([warning]);
    }
    await chmod(dataDir, 0o755);
    expect(await sharedPaths(paths)).to.have.lengthOf(2);
  });

  it("returns the same promise to concurrent callers", async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => obtain()));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).to.equal(1);
    expect(await readdir(folder.path)).to.deep.equal(["master.key"]);
  });

  it("is the only file that is left of it at the next start, although a process was killed while it created it", async () => {
    const draft = (end: string) => join(folder.path, `master.key.0f0c2a0e-0000-4000-8000-00000000000${end}`);
    await writeFile(draft("1"), `${Buffer.alloc(32, 1).toString("base64")}\n`);
    await writeFile(join(folder.path, "master.key.old"), "an operator's copy");
    const key = await obtain();
    await writeFile(draft("2"), "");
    expect((await obtain()).equals(key)).to.equal(true);
    expect((await readdir(folder.path)).sort()).to.deep.equal(["master.key", "master.key.old"]);
    await writeFile(draft("3"), "");
    await chmod(folder.path, 0o500);
    expect((await obtain()).equals(key)).to.equal(true);
    await chmod(folder.path, 0o700);
  });

  it("is the same for processes that start concurrently", async () => {
    const arguments_ = [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      program(folder.path),
    ];
    const outputs = await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, arguments_)));
    const kept = (await readFile(join(folder.path, "master.key"), "utf8")).trim();
    for (const { stdout } of outputs) expect(stdout.trim()).to.equal(kept);
  });

  it("is compared with the log by the store's threads that run already, which stay open", async () => {
    const path = join(folder.path, "events.db");
    const threads = await startThreads({ path });
    const settings = { ...base, dataDir: folder.path, eventStore: { kind: "sqlite", path } as const };
    try {
      expect(await obtainMasterKey(settings, { threads })).to.have.length(32);
      await threads.reader.call("probe", undefined);
      await threads.writer.call("probe", undefined);
    } finally {
      await threads.close();
    }
  });

  it("is reported if its file is damaged, and neither used nor replaced", async () => {
    const path = join(folder.path, "master.key");
    for (const damaged of ["", "c2hvcnQ=\n"]) {
      await writeFile(path, damaged);
      expect(await rejection(obtain()))
        .to.be.instanceOf(Error)
        .with.property("message")
        .that.includes("master.key");
      expect(await readFile(path, "utf8")).to.equal(damaged);
    }
  });

  it("precedes the previous keys in the list of keys for a purpose", async () => {
    const [now, before] = [Buffer.alloc(32, 5), Buffer.alloc(32, 6)];
    const given = { masterKey: now, previousMasterKeys: [before], dataDir: folder.path };
    const keys = await obtainMasterKeys({ ...base, ...given });
    expect(keys).to.deep.equal([now, before]);
    expect(deriveKeys(keys, "a")).to.deep.equal([deriveKey(now, "a"), deriveKey(before, "a")]);
  });

  it("derives a constant, separate key for each purpose", () => {
    const master = Buffer.alloc(32, 5);
    expect(deriveKey(master, "a")).to.have.length(32);
    expect(deriveKey(master, "a").equals(deriveKey(master, "a"))).to.equal(true);
    expect(deriveKey(master, "a").equals(deriveKey(master, "b"))).to.equal(false);
    expect(deriveKey(master, "a").equals(deriveKey(Buffer.alloc(32, 6), "a"))).to.equal(false);
  });
});
