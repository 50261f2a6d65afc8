import { expect } from "chai";
import { type EventStore, WrongExpectedRevision } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { prefixedEventStore } from "../../src/eventstore/prefixed-event-store.ts";
import { event, read, readLog, rejectionOf } from "../contracts/event-store/events.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";

const onSqlite = async () => {
  const { store, remove } = await openTemporaryStore();
  return { log: store, end: remove };
};

const onEventStoreDB = async () => {
  const node = await startEventStoreDBNode();
  const log = await openEventStoreDB({ url: node.url });
  return {
    log,
    end: async () => {
      await log.close();
      await node.close();
    },
  };
};

/** Prefixes that begin with each other's names, or with names and prefixes of streams. */
const prefixes = [
  "",
  "prod",
  "prod-2",
  "prod_",
  "p",
  "catalog",
  "catalogue",
  "key-k1",
  "key-",
  "journal-",
  "log",
  "-",
];
const streams = ["catalog", "key-k1", "key-k2", "journal-1", "log"];
const queries = [[], ["catalog"], ["key-"], ["key-k1"], ["journal-", "log"]];

for (const [driver, open] of [
  ["SQLite", onSqlite],
  ["EventStoreDB", onEventStoreDB],
] as const) {
  describe(`installations that share a log on ${driver}`, () => {
    let log: EventStore;
    let end: () => Promise<void>;
    let installations: ReadonlyMap<string, EventStore>;

    // One log for all tests: none of them changes it.
    before(async () => {
      ({ log, end } = await open());
      installations = new Map(prefixes.map((prefix) => [prefix, prefixedEventStore(log, prefix)]));
      for (const stream of streams) {
        for (const [prefix, store] of installations) await store.append(stream, [event({ prefix })], "none");
      }
    });
    after(() => end());

    it("read only their own streams, under the names without the prefix", async () => {
      for (const [prefix, store] of installations) {
        for (const stream of streams) {
          const events = await read(store, stream);
          expect(events.map((one) => [one.stream, one.revision, one.data])).to.deep.equal([
            [stream, 0, { prefix }],
          ]);
        }
      }
    });

    it("see only their own events in subscriptions, with and without a filter", async () => {
      for (const [prefix, store] of installations) {
        for (const filter of queries) {
          const events = await readLog(store, { prefixes: filter });
          const expected = streams.filter(
            (name) => filter.length === 0 || filter.some((start) => name.startsWith(start)),
          );
          expect(
            events.map(({ stream }) => stream),
            `${prefix}: ${filter}`,
          ).to.deep.equal(expected);
          for (const { data } of events) expect(data).to.deep.equal({ prefix });
        }
      }
    });

    it("find only their own events by position", async () => {
      const all = await readLog(log);
      expect(all).to.have.length(prefixes.length * streams.length);
      const ofAll = all.filter(({ stream }) => stream.endsWith("catalog"));
      expect(ofAll).to.have.length(prefixes.length);
      for (const prefix of ["", "prod", "catalog"]) {
        const store = prefixedEventStore(log, prefix);
        for (const { position, data } of ofAll) {
          const isOwn = (data as { prefix: string }).prefix === prefix;
          expect((await store.eventAt(position))?.data).to.deep.equal(isOwn ? data : undefined);
        }
      }
    });

    it("cannot reach the streams of another installation without a prefix by any name", async () => {
      const store = prefixedEventStore(log, "");
      for (const name of ["prod.catalog", "key-k1.catalog", "-.log"]) {
        expect(await read(store, name)).to.deep.equal([]);
        const calls = [
          () => store.append(name, [event()], "any"),
          () => store.setRetention(name, { maxCount: 1 }),
          () => store.deleteStream(name),
        ];
        for (const call of calls) expect(await rejectionOf(call)).to.be.instanceOf(TypeError);
      }
      expect(await readLog(log)).to.have.length(prefixes.length * streams.length);
    });

    it("name a stream in conflicts as the caller does", async () => {
      const error = await rejectionOf(async () =>
        installations.get("prod")?.append("catalog", [event()], "none"),
      );
      expect(error).to.be.instanceOf(WrongExpectedRevision).and.to.include({ stream: "catalog", actual: 0 });
      expect((error as Error).message).to.equal("stream catalog is at revision 0, not at none");
    });
  });
}
