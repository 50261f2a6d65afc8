import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { openNewJournal, writeOldJournals } from "../../ledger/archive/old-journals.ts";
import { sealing } from "../../ledger/proof/sealed-store.ts";
import { runCli } from "../../support/cli-process.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

/** The journals were recorded at this time, which is more than 90 days ago. */
const start = "2026-01-05T10:00:00.000Z";

interface Log {
  readonly env: NodeJS.ProcessEnv;
  readonly store: EventStore;
  close(): Promise<void>;
}

const logs: Readonly<Record<string, (folder: string) => Promise<Log>>> = {
  SQLite: async (folder) => {
    const options = { path: join(folder, "events.db"), clock: () => Date.parse(start) };
    const store = await openSqliteEventStore(options);
    return { env: { DATA_DIR: folder }, store, close: () => store.close() };
  },
  EventStoreDB: async (folder) => {
    let isWritten = false;
    const node = await startEventStoreDBNode({ clock: () => (isWritten ? Date.now() : Date.parse(start)) });
    const store = await openEventStoreDB({ url: node.url });
    const MASTER_KEY = randomBytes(32).toString("base64");
    return {
      get env() {
        isWritten = true;
        return { DATA_DIR: folder, EVENT_STORE: node.url, MASTER_KEY };
      },
      store,
      close: async () => {
        await store.close();
        await node.close();
      },
    };
  },
};

for (const [name, open] of Object.entries(logs)) {
  describe(`voxledger audit after archived journals were deleted, with ${name}`, () => {
    let folder: string;
    let log: Log;
    let file: string;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "voxledger-audit-"));
      file = join(folder, "2026-01.ndjson");
      log = await open(folder);
      const { log: written, post, seals, exported } = sealing(log.store, start);
      // The key of seals is that of the installation, and not that of the tests.
      await writeOldJournals({
        log: written,
        post,
        exported,
        seals: { ...seals, seal: async () => ({}) as never },
      });
      await openNewJournal(log.store);
    });
    after(async () => {
      await log.close();
      await rm(folder, { recursive: true });
    });

    const voxledger = (...args: string[]) => runCli(args, log.env);

    it("prints the same with the file as before, and without it names the file", async () => {
      const archived = await voxledger("archive", "--before", "2026-02", file);
      const digest = archived.stdout.trimEnd().slice(-64);
      const audit = ["audit", "--to", "2026-02-01"];
      const hours = ["usage", "k1", "--month", "2026-01", "--as-of", "2026-01-05T10:00:07Z", "--json"];
      const before = await voxledger(...audit);
      expect(before).to.deep.include({ exitCode: 0, stderr: "" });
      const usage = JSON.parse((await voxledger(...hours)).stdout);
      const day = ["usage", "--all", "--day", "2026-01-05", "--json"];
      const { asOf: _, ...total } = JSON.parse((await voxledger(...day)).stdout);
      const deleted = await voxledger("archive", "--before", "2026-02", "--delete", file);
      expect(deleted).to.deep.include({ exitCode: 0, stderr: "" });

      const message = `error: The log no longer has single servings of this request: 3 journals of 2026-01 are in the archive with the SHA-256 ${digest}. Name the file with --archive.\n`;
      expect(await voxledger(...audit)).to.deep.equal({ exitCode: 2, stdout: "", stderr: message });
      expect(await voxledger(...audit, "--archive", file)).to.deep.equal(before);
      expect(await voxledger(...hours)).to.deep.include({ exitCode: 2, stdout: "" });
      expect(JSON.parse((await voxledger(...hours, "--archive", file)).stdout)).to.deep.equal(usage);
      expect(JSON.parse((await voxledger(...day)).stdout)).to.deep.include(total);
    });

    if (name === "SQLite") {
      it("is named by a restore, because the backup lacks the journals, too", async () => {
        const other = await mkdtemp(join(tmpdir(), "voxledger-restored-"));
        const [backup, DATA_DIR] = [join(other, "backup"), join(other, "data")];
        expect(await voxledger("backup", backup, "--no-audio")).to.include({ exitCode: 0, stderr: "" });
        await mkdir(DATA_DIR);
        await copyFile(join(folder, "master.key"), join(DATA_DIR, "master.key"));
        const { exitCode, stdout } = await runCli(["restore", backup, "--no-audio"], { DATA_DIR });
        expect(exitCode).to.equal(0);
        expect(stdout).to.match(/^archives +3 journals are only in the file with the SHA-256 [0-9a-f]{64}$/m);
        await rm(other, { recursive: true });
      });
    }

    it("refuses a file that the log does not name, before it prints anything", async () => {
      const other = join(folder, "other.ndjson");
      await writeFile(other, `${await readFile(file, "utf8")}\n`);
      const { exitCode, stdout, stderr } = await voxledger("audit", "--archive", file, "--archive", other);
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr).to.match(
        /^error: the archive .*other\.ndjson has the SHA-256 [0-9a-f]{64}, which no sealed archive has\n$/,
      );
      const { stderr: refusal } = await voxledger("audit", "--archive", folder);
      expect(refusal).to.equal(`error: ${folder} is no regular file\n`);
    });
  });
}
