import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
import { composeArchiveToFile } from "../../../src/bootstrap/commands/archive-to-file.ts";
import { composeAuditProof } from "../../../src/bootstrap/commands/audit-proof.ts";
import { registerArchiveCommand } from "../../../src/cli/commands/archive.ts";
import { registerAuditProofCommands } from "../../../src/cli/commands/audit-proof.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { readSettings, type Settings } from "../../../src/settings/read-settings.ts";
import { openNewJournal, writeOldJournals } from "../../ledger/archive/old-journals.ts";
import { sealing } from "../../ledger/proof/sealed-store.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

/** The journals were recorded at this time, which is more than 90 days ago. */
const start = "2026-01-05T10:00:00.000Z";

/** Writes journals that no seal covers yet: the key of seals is not that of the tests. */
const writeJournals = async (store: EventStore, isInUse = true): Promise<void> => {
  const { log, post, seals: real } = sealing(store, start);
  const seals = { ...real, seal: async () => ({}) as never };
  await writeOldJournals({ log, post, seals, exported: async () => Buffer.alloc(0) });
  if (isInUse) await openNewJournal(store);
  await store.close();
};

const voxledger = async (settings: Settings, ...args: string[]) => {
  let [stdout, stderr] = ["", ""];
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
  registerArchiveCommand(
    program,
    composeArchiveToFile(() => settings),
  );
  return { exitCode: await run(program, ["node", "voxledger", ...args]), stdout, stderr };
};

interface Log {
  readonly settings: Settings;
  /** Removes the journals, as a program does that knows the store. */
  removeJournals(): Promise<void>;
  close(): Promise<void>;
}

const logs: Readonly<Record<string, (folder: string) => Promise<Log>>> = {
  SQLite: async (folder) => {
    const path = join(folder, "data/events.db");
    await writeJournals(await openSqliteEventStore({ path, clock: () => Date.parse(start) }));
    return {
      settings: readSettings({ DATA_DIR: join(folder, "data") }),
      removeJournals: async () => {
        const db = new DatabaseSync(path);
        const sql = "DELETE FROM events WHERE stream IN (SELECT id FROM streams WHERE name LIKE 'journal-%')";
        expect(db.prepare(sql).run().changes).to.equal(10);
        db.close();
      },
      close: async () => {},
    };
  },
  EventStoreDB: async (folder) => {
    let now = () => Date.parse(start);
    const node = await startEventStoreDBNode({ clock: () => now() });
    await writeJournals(await openEventStoreDB({ url: node.url }));
    now = Date.now;
    return {
      settings: readSettings({
        DATA_DIR: join(folder, "data"),
        EVENT_STORE: node.url,
        MASTER_KEY: randomBytes(32).toString("base64"),
      }),
      removeJournals: async () => {
        const client = EventStoreDBClient.connectionString(node.url);
        for (const journal of ["old-1", "old-2", "old-3"]) await client.deleteStream(`journal-${journal}`);
        await client.dispose();
        node.scavenge();
      },
      close: () => node.close(),
    };
  },
};

for (const [name, open] of Object.entries(logs)) {
  describe(`voxledger archive with ${name}`, () => {
    let folder: string;
    let log: Log;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "voxledger-archive-"));
      log = await open(folder);
    });
    afterEach(async () => {
      await log.close();
      await rm(folder, { recursive: true });
    });

    it("writes a file with which the log is verified, with and without its journals", async () => {
      const [file, text] = [join(folder, "2026-01.ndjson"), join(folder, "export")];
      const command = (...args: string[]) => voxledger(log.settings, ...args);
      const { exitCode, stdout, stderr } = await command("archive", "--before", "2026-02", file);
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
      expect(stdout).to.match(/^archived to .+: 3 journals with 10 events, SHA-256 [0-9a-f]{64}\n$/);
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      const isMissing = `remark: 3 journals are in the archive with the SHA-256 ${stdout.slice(-65, -1)}`;
      const before = await command("audit", "verify");
      expect(before.stdout).to.match(/^genuine/);
      expect(before.stdout).not.to.include(isMissing);
      await log.removeJournals();
      const without = await command("audit", "verify");
      expect(without).to.deep.include({ exitCode: 2, stderr: "" });
      expect(without.stdout).to.include(isMissing);
      expect(await command("audit", "verify", "--archive", file)).to.deep.equal(before);
      await command("audit", "export", text);
      expect((await command("audit", "verify", text)).stdout).to.include(isMissing);
      const exported = await command("audit", "verify", text, "--archive", file);
      expect(exported.stdout).to.match(/^genuine/);
      expect(exported.stdout).not.to.include(isMissing);
    });

    it("deletes the journals of a new file, or of one that was written before", async () => {
      const file = join(folder, "2026-01.ndjson");
      const command = (...args: string[]) => voxledger(log.settings, ...args);
      const archive = ["archive", "--before", "2026-02", file];
      const { stdout: archived } = await command(...archive);
      expect((await command(...archive)).stderr).to.equal(`error: ${file} exists already\n`);
      const digest = archived.slice(-65, -1);
      const deleted = `deleted from the log: 3 journals, which only ${file} has now (SHA-256 ${digest})\n`;
      for (const time of ["first", "second"]) {
        const { exitCode, stdout, stderr } = await command(...archive, "--delete");
        expect({ exitCode, stdout, stderr }, time).to.deep.equal({
          exitCode: 0,
          stdout: deleted,
          stderr: "",
        });
      }
      const without = await command("audit", "verify");
      expect(without.exitCode).to.equal(2);
      expect(without.stdout).to.include(`3 journals are in the archive with the SHA-256 ${digest}`);
      const complete = await command("audit", "verify", "--archive", file);
      expect(complete.stdout).to.match(/^genuine/);
      expect(complete.stdout).not.to.include("are in the archive");
      await rm(file);
      expect((await command("archive", "--again", digest, file)).stderr).to.equal(
        "error: 3 of the archive's 3 journals are no longer in the log\n",
      );
      expect((await command(...archive, "--delete")).stderr).to.include("no journal ended before 2026-02");
      expect(await readdir(folder)).to.deep.equal(["data"]);
    });

    it("archives and deletes at once, and prints both as JSON", async () => {
      const file = join(folder, "2026-01.ndjson");
      const args = ["--json", "archive", "--before", "2026-02", "--delete", file];
      const { stdout, stderr } = await voxledger(log.settings, ...args);
      expect(stderr).to.equal("");
      expect(JSON.parse(stdout)).to.deep.include({ events: 10, remaining: 0, deleted: 3, kept: 0 });
    });
  });
}

describe("voxledger archive", () => {
  let folder: string;
  let log: Log;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-archive-"));
    log = await (logs.SQLite as (typeof logs)[string])(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const inFolder = (name: string): string => join(folder, name);
  const command = (...args: string[]) => voxledger(log.settings, ...args);
  const archive = (file: string, before = "2026-02") => command("archive", "--before", before, file);

  it("refuses the log itself, and existing files, before it writes anything", async () => {
    const events = inFolder("data/events.db");
    const bytes = await readFile(events);
    for (const path of [events, `${events}-wal`, `${events}-shm`, `${events}-journal`]) {
      const { exitCode, stderr } = await archive(path);
      expect({ exitCode, stderr }).to.deep.equal({
        exitCode: 1,
        stderr: `error: ${path} is the event log itself\n`,
      });
    }
    const link = inFolder("data/link.db");
    await symlink(events, link);
    const linked = { ...log.settings, eventStore: { kind: "sqlite", path: link } } as const;
    const { stderr } = await voxledger(linked, "archive", "--before", "2026-02", `${events}-journal`);
    expect(stderr).to.equal(`error: ${events}-journal is the event log itself\n`);
    const existing = inFolder("data");
    expect((await archive(existing)).stderr).to.equal(`error: ${existing} exists already\n`);
    expect(await readdir(folder)).to.deep.equal(["data"]);
    expect((await readFile(events)).equals(bytes)).to.equal(true);
  });

  it("writes no file if no journal qualifies, or the month is none", async () => {
    const none = await archive(inFolder("none"), "2026-01");
    expect(none.exitCode).to.equal(1);
    expect(none.stderr).to.match(/^error: before: no journal ended before 2026-01 .+\n$/);
    expect((await archive(inFolder("none"), "January")).stderr).to.include("Must be YYYY-MM");
    expect((await command("archive", inFolder("none"))).exitCode).to.equal(2);
    expect(await readdir(folder)).to.deep.equal(["data"]);
  });

  it("takes no journal for old by its machine's clock alone, however often it is repeated", async () => {
    const data = inFolder("unused");
    const path = join(data, "events.db");
    await writeJournals(await openSqliteEventStore({ path, clock: () => Date.parse(start) }), false);
    for (const time of ["first", "second"]) {
      const args = ["archive", "--before", "2026-02", "--delete", inFolder("recent")];
      const { exitCode, stderr } = await voxledger(readSettings({ DATA_DIR: data }), ...args);
      expect(exitCode, time).to.equal(1);
      expect(stderr, time).to.include("no journal ended before 2026-02 and more than 90 days before");
    }
  });

  it("writes a lost file again", async () => {
    const { stdout } = await archive(inFolder("lost"));
    const bytes = await readFile(inFolder("lost"));
    const digest = stdout.slice(-65, -1);
    const again = await command("archive", "--again", digest, inFolder("again"));
    expect(again).to.deep.equal({
      exitCode: 0,
      stdout: `written again to ${inFolder("again")}: SHA-256 ${digest}\n`,
      stderr: "",
    });
    expect((await readFile(inFolder("again"))).equals(bytes)).to.equal(true);
    const misused = await command("archive", "--again", digest, "--delete", inFolder("other"));
    expect(misused.exitCode).to.equal(2);
  });

  it("deletes nothing of a file that the log does not name, nor if the path is no file", async () => {
    await writeFile(inFolder("other"), "");
    await command("audit", "export", inFolder("export"));
    for (const [path, message] of [
      ["other", /cut off/],
      ["export", /it is no archive/],
      ["data", /is not a file/],
    ] as const) {
      const { exitCode, stderr } = await command(
        "archive",
        "--before",
        "2026-02",
        "--delete",
        inFolder(path),
      );
      expect(exitCode, path).to.equal(1);
      expect(stderr, path).to.match(message);
    }
    expect((await command("audit", "verify")).stdout).not.to.include("are in the archive");
  });

  it("says how a file is verified that is an archive, and no export", async () => {
    await archive(inFolder("archive"));
    const { exitCode, stderr } = await command("audit", "verify", inFolder("archive"));
    expect(exitCode).to.equal(1);
    expect(stderr).to.include("it is no export, but an archive: verify the log or an export with --archive");
  });

  it("refuses an archive of another log", async () => {
    await archive(inFolder("archive"));
    await command("audit", "export", inFolder("export"));
    const { exitCode, stderr } = await command("audit", "verify", "--archive", inFolder("export"));
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^error: not genuine: the archive .+ which no sealed archive has\n$/);
  });
});
