import { copyFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  type EventStore,
  EventStoreLost,
  EventStoreUnavailable,
} from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { event, ids, read, readLog, rejectionOf } from "../../contracts/event-store/events.ts";
import { withTemporaryFolder } from "../../support/child-process.ts";

const calls = (store: EventStore): (() => Promise<unknown>)[] => [
  () => store.append("s", [event()], "any"),
  () => read(store, "s"),
  () => store.eventAt(1),
  () => readLog(store),
  () => store.setRetention("s", { maxCount: 1 }),
  () => store.ping(),
];

const expectLost = async (store: EventStore): Promise<void> => {
  for (const call of calls(store)) {
    const error = await rejectionOf(call);
    expect(error, String(call)).to.be.instanceOf(EventStoreLost);
    expect((error as Error).message).to.contain("removed or replaced");
  }
};

const removeLog = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) if (name.startsWith("events.db")) await rm(join(folder, name));
};

describe("the SQLite event store after its file was removed or replaced", () => {
  it("fails every call once the file is removed, and creates no new one", () =>
    withTemporaryFolder(async (folder) => {
      const store = await openSqliteEventStore({ path: join(folder, "events.db") });
      await store.append("s", [event()], "none");
      await removeLog(folder);
      await expectLost(store);
      await store.close();
      expect(await readdir(folder)).to.deep.equal([]);
    }));

  it("fails every call once the file is replaced, and does not change the new file", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const other = await openSqliteEventStore({ path: join(folder, "other.db") });
      const fact = event();
      await other.append("s", [fact], "none");
      await other.close();
      const store = await openSqliteEventStore({ path });
      await store.append("s", [event(), event()], "none");
      await removeLog(folder);
      await copyFile(join(folder, "other.db"), path);
      await expectLost(store);
      await store.close();
      const replaced = await openSqliteEventStore({ path });
      expect(ids(await read(replaced, "s"))).to.deep.equal([fact.id]);
      await replaced.close();
    }));

  it("fails every call once its write-ahead log is removed", () =>
    withTemporaryFolder(async (folder) => {
      const store = await openSqliteEventStore({ path: join(folder, "events.db") });
      await store.append("s", [event()], "none");
      await rm(join(folder, "events.db-wal"));
      await expectLost(store);
      await store.close();
    }));

  it("does not begin a new log beside a write-ahead log that has events", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const store = await openSqliteEventStore({ path });
      await store.append("s", [event()], "none");
      await copyFile(`${path}-wal`, join(folder, "kept"));
      await store.close();
      await removeLog(folder);
      await rename(join(folder, "kept"), `${path}-wal`);
      const error = await rejectionOf(() => openSqliteEventStore({ path }));
      expect(error).to.be.instanceOf(EventStoreUnavailable);
      expect((error as Error).message).to.contain("write-ahead log (-wal) has events");
      expect(await readdir(folder)).to.deep.equal(["events.db-wal"]);
    }));

  it("still fails after the file was restored", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const store = await openSqliteEventStore({ path });
      await rename(path, join(folder, "elsewhere"));
      await expectLost(store);
      await rename(join(folder, "elsewhere"), path);
      await expectLost(store);
      await store.close();
    }));

  it("fails a waiting subscription", () =>
    withTemporaryFolder(async (folder) => {
      const store = await openSqliteEventStore({ path: join(folder, "events.db") });
      const waiting = rejectionOf(async () => {
        for await (const { caughtUp } of store.subscribe()) if (caughtUp) await removeLog(folder);
      });
      expect(await waiting).to.be.instanceOf(EventStoreLost);
      await store.close();
    }));
});
