import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { EventStoreDamaged, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { event, read, readLog, rejectionOf } from "../../contracts/event-store/events.ts";
import { withTemporaryFolder } from "../../support/child-process.ts";

const alter = (folder: string, sql: string, ...values: (string | number | null)[]): void => {
  const db = new DatabaseSync(join(folder, "events.db"), { defensive: false });
  try {
    if (values.length === 0) db.exec(sql);
    else db.prepare(sql).run(...values);
  } finally {
    db.close();
  }
};

/** Writes three events, alters the file, and reads them. */
const readAltered = async (folder: string, sql: string, ...values: (string | number | null)[]) => {
  const path = join(folder, "events.db");
  const first = await openSqliteEventStore({ path });
  await first.append("rate-i", [event(), event(), event()], "none");
  await first.close();
  alter(folder, sql, ...values);
  const store = await openSqliteEventStore({ path });
  try {
    const events = await readLog(store);
    expect(await read(store, "rate-i")).to.deep.equal(events);
    expect(await store.eventAt(2)).to.deep.equal(events[1]);
    return events;
  } finally {
    await store.close();
  }
};

const phantom = (columns: string): string => `"type":"Harmless","data":{},"metadata":{}${columns}}`;
const asIfOwn =
  ',"id":"7d3f0a53-0000-4000-8000-000000000000","stream":"rate-i","revision":1,"position":2,"created":1';
const issued = '"type":"SecretCreated","data":{},"metadata":{},"stream":"key-k","revision":9';

describe("the SQLite event store whose rows another program has altered", () => {
  for (const [what, body] of [
    ["that holds an event of another stream", `${phantom("")},{${issued},"position":2},{"type":"Harmless"`],
    ["that ends its object and begins another", `${phantom("")},{${issued}`],
    ["that ends its object with the row's own columns", `${phantom(asIfOwn)},{${issued}`],
    ["that hides what follows in a member", `${phantom(asIfOwn)},{"x":[{"y":1`],
    ["that ends the page", `${phantom("")}],"x":[{"y":1`],
    ["without members", ""],
    ["of white space", " \n"],
    ["that is one value", '"type"'],
    ["that begins with a brace", '{"type":"T"'],
    ["that ends with a comma", '"type":"T",'],
    ["with a comment", '"type":"T"/*,"data":{}*/'],
    ["with a name without quotes", "type:5"],
    ["with a NUL", '"type":"T","data":{"a":"\0"}'],
    ["with a number that JSON does not have", '"type":"T","data":{"a":NaN}'],
  ] as const) {
    it(`reads a row with a body ${what} as one malformed event`, () =>
      withTemporaryFolder(async (folder) => {
        const events = await readAltered(folder, "UPDATE events SET body = ? WHERE position = 2", body);
        expect(events.map(({ position, revision, stream }) => [position, revision, stream])).to.deep.equal([
          [1, 0, "rate-i"],
          [2, 1, "rate-i"],
          [3, 2, "rate-i"],
        ]);
        expect(events[1]).to.deep.include({ type: "", data: null, metadata: {} });
      }));
  }

  it("takes stream, revision, position, id and time from the columns, whatever the body contains", () =>
    withTemporaryFolder(async (folder) => {
      const id = 'quoted"},{"type":"SecretCreated';
      const body = `"type":"T","data":{},"metadata":{},"stream":"key-k","revision":7,"position":9,"id":"x","created":1`;
      const events = await readAltered(
        folder,
        "UPDATE events SET body = ?, id = ?, created = 5 WHERE position = 2",
        body,
        id,
      );
      expect(events[1]).to.deep.equal({
        type: "T",
        data: {},
        metadata: {},
        id,
        stream: "rate-i",
        revision: 1,
        position: 2,
        created: 5,
      });
      expect(events).to.have.length(3);
    }));

  it("refuses to open a database with a trigger, an altered table or index, or a view in a table's place", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const first = await openSqliteEventStore({ path });
      await first.append("s", [event()], "none");
      await first.close();
      for (const [altered, change, revert] of [
        ["trigger t", "CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END", "DROP TRIGGER t"],
        ["index one", "CREATE INDEX one ON events (created)", "DROP INDEX one"],
        ["index events_by_id", "DROP INDEX events_by_id", "CREATE UNIQUE INDEX events_by_id ON events (id)"],
        [
          "index events_by_id",
          "DROP INDEX events_by_id; CREATE UNIQUE INDEX events_by_id ON events (id) WHERE stream > 1",
          "DROP INDEX events_by_id; CREATE UNIQUE INDEX events_by_id ON events (id)",
        ],
      ] as const) {
        alter(folder, change);
        for (const readOnly of [false, true]) {
          const error = await rejectionOf(() => openSqliteEventStore({ path, readOnly }));
          expect(error, change).to.be.instanceOf(EventStoreUnavailable);
          expect((error as Error).message).to.match(/altered by another program: [^\n]+$/);
          expect((error as Error).message, change).to.contain(altered);
        }
        alter(folder, revert);
      }
      await (await openSqliteEventStore({ path })).close();
      alter(folder, "ALTER TABLE events RENAME TO rows; CREATE VIEW events AS SELECT * FROM rows");
      const error = await rejectionOf(() => openSqliteEventStore({ path }));
      expect((error as Error).message).to.contain("another program's database");
    }));

  it("opens a database that has further tables", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      await (await openSqliteEventStore({ path })).close();
      alter(folder, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
      await (await openSqliteEventStore({ path })).close();
    }));

  it("finds an index that hides an event from reads of its stream", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const first = await openSqliteEventStore({ path });
      await first.append("key-k", [event(), event()], "none");
      await first.checkIntegrity();
      await first.close();
      // An index of the same definition that was built without the row.
      alter(
        folder,
        `PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = sql || ' WHERE revision < 1' WHERE name = 'events_by_stream';
         PRAGMA writable_schema = RESET; REINDEX events_by_stream; PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, ' WHERE revision < 1', '') WHERE name = 'events_by_stream';
         PRAGMA writable_schema = RESET`,
      );
      const store = await openSqliteEventStore({ path });
      expect(await read(store, "key-k")).to.have.length(1);
      expect(await readLog(store)).to.have.length(2);
      const error = await rejectionOf(() => store.checkIntegrity());
      expect(error).to.be.instanceOf(EventStoreDamaged);
      expect((error as Error).message).to.contain("index events_by_stream");
      await store.close();
    }));
});
