import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { systemTime } from "../../../src/async/time.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { type Entry, QuotaInstance, spentIn } from "./quota-instance.ts";

const month = "2026-11";

interface Installation {
  /** Opens a store of its own for another instance. */
  open(): Promise<EventStore>;
  end(): Promise<void>;
}

const onSqlite = async (): Promise<Installation> => {
  const { folder, remove } = await openTemporaryStore();
  return { open: () => openSqliteEventStore({ path: join(folder, "events.db") }), end: remove };
};

const onEventStoreDB = async (): Promise<Installation> => {
  const node = await startEventStoreDBNode({ indexLagMs: randomLag(Date.now(), 50), commitTimeoutMs: 250 });
  return {
    open: () => openEventStoreDB({ url: node.url, appendTimeoutMs: 15_000 }),
    end: () => node.close(),
  };
};

/** All events of streams that start with the prefix. */
const read = async (store: EventStore, prefix: string) => {
  const events = [];
  for await (const batch of store.subscribe({ prefixes: [prefix] })) {
    events.push(...batch.events);
    if (batch.caughtUp) break;
  }
  return events;
};

for (const [name, install] of [
  ["SQLite", onSqlite],
  ["EventStoreDB with index lag", onEventStoreDB],
] as const) {
  describe(`reservations of a monthly quota on ${name}`, () => {
    let installation: Installation;
    let stores: EventStore[];
    let instances: QuotaInstance[];
    const apiKey = `vlk_${randomUUID()}`;

    beforeEach(async () => {
      installation = await install();
      stores = await Promise.all([1, 2, 3].map(() => installation.open()));
      instances = stores.map(
        (store, index) =>
          new QuotaInstance({
            name: `journal-${index}`,
            store,
            time: systemTime,
            clock: Date.now,
            random: Math.random,
            deadlineMs: 30_000,
          }),
      );
    });

    afterEach(async () => {
      await Promise.all(instances.map((instance) => instance.close()));
      await Promise.all(stores.map((store) => store.close()));
      await installation.end();
    });

    const store = (): EventStore => stores[0] as EventStore;

    const spent = async (): Promise<number> => {
      const events = (await read(store(), "journal-")).filter(({ type }) => type === "Entries");
      return events.reduce(
        (sum, { data }) => sum + spentIn((data as { entries: Entry[] }).entries, apiKey, month),
        0,
      );
    };

    it("serves the whole quota and not one character more, from all instances together", async () => {
      const quota = 20_000;
      const responses = await Promise.all(
        instances.map(async (instance) => {
          for (let served = 0; ; served++) {
            const response = await instance.request(apiKey, month, 25, quota);
            if (response !== "served") return { response, served };
          }
        }),
      );
      expect(responses.map(({ response }) => response)).to.deep.equal(Array(3).fill("exceeded"));
      expect(await spent()).to.equal(quota);
    });
  });
}
