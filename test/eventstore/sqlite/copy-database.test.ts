import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { copyDatabase, lastPosition } from "../../../src/eventstore/sqlite/copy-database.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { event, readLog } from "../../contracts/event-store/events.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

describe("a copy of an SQLite log", () => {
  const temporary = duringTest(openTemporaryStore);
  const pathOf = (name: string): string => join(temporary.folder, name);
  const copy = (to = "copy.db", from = "events.db") => copyDatabase(pathOf(from), pathOf(to));

  it("has all events as of one moment, while a process appends", async () => {
    let isCopied = false;
    const append = async (): Promise<void> => {
      do await temporary.store.append("a", [event(), event()], "any");
      while (!isCopied);
    };
    const appending = append();
    for (const name of ["1.db", "2.db"]) await copy(name);
    isCopied = true;
    await appending;
    const all = await readLog(temporary.store);
    for (const name of ["1.db", "2.db"]) {
      const store = await openSqliteEventStore({ path: pathOf(name), readOnly: true });
      const copied = await readLog(store);
      await store.checkIntegrity();
      await store.close();
      expect(copied).to.deep.equal(all.slice(0, copied.length));
      expect(await lastPosition(pathOf(name))).to.equal(copied.at(-1)?.position ?? -1);
    }
  });

  it("continues with positions that the original has not used before", async () => {
    await temporary.store.append("a", [event()], "none");
    await copy();
    const store = await openSqliteEventStore({ path: pathOf("copy.db") });
    const { position } = await store.append("a", [event()], "any");
    await store.close();
    expect(position).to.equal((await temporary.store.append("a", [event()], "any")).position);
  });

  it("is readable only by its owner, and alone", async () => {
    await copy();
    expect((await stat(pathOf("copy.db"))).mode & 0o777).to.equal(0o600);
    expect((await readdir(temporary.folder)).filter((name) => name.startsWith("copy"))).to.deep.equal([
      "copy.db",
    ]);
  });

  it("replaces no file, and is removed if it fails", async () => {
    await copy();
    expect(await rejection(copy())).to.have.property("code", "EEXIST");
    expect(await rejection(copy("other.db", "missing.db"))).to.be.instanceOf(EventStoreUnavailable);
    expect(await readdir(temporary.folder)).not.to.include("other.db");
  });
});
