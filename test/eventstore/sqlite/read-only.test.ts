import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { event, ids, read, readLog, rejectionOf } from "../../contracts/event-store/events.ts";
import { withTemporaryFolder } from "../../support/child-process.ts";

describe("the SQLite event store opened for reading", () => {
  it("reads while another store writes, and refuses writes", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const writer = await openSqliteEventStore({ path });
      const fact = event();
      const { position } = await writer.append("s", [fact], "none");
      const reader = await openSqliteEventStore({ path, readOnly: true });
      await reader.ping();
      expect(ids(await read(reader, "s"))).to.deep.equal([fact.id]);
      expect(ids(await readLog(reader))).to.deep.equal([fact.id]);
      expect((await reader.eventAt(position))?.id).to.equal(fact.id);
      expect(await rejectionOf(() => reader.append("s", [event()], "any"))).to.be.instanceOf(TypeError);
      expect(await rejectionOf(() => reader.setRetention("s", { maxCount: 1 }))).to.be.instanceOf(TypeError);
      expect(await rejectionOf(() => reader.deleteStream("s"))).to.be.instanceOf(TypeError);
      await reader.close();
      await writer.close();
    }));

  it("creates no file", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "not", "there.db");
      const error = await rejectionOf(() => openSqliteEventStore({ path, readOnly: true }));
      expect(error).to.be.instanceOf(EventStoreUnavailable);
      expect(await readdir(folder)).to.deep.equal([]);
    }));

  it("refuses a file that is not an event store, without changing it", () =>
    withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, "empty"), "");
      await writeFile(join(folder, "letter"), "Dear reader, ".repeat(1000));
      for (const name of ["empty", "letter"]) {
        const opening = () => openSqliteEventStore({ path: join(folder, name), readOnly: true });
        expect(await rejectionOf(opening), name).to.be.instanceOf(EventStoreUnavailable);
      }
      expect((await readdir(folder)).toSorted()).to.deep.equal(["empty", "letter"]);
    }));
});
