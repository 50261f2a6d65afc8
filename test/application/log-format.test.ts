import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { obtainEventLogId, requireLogFormat } from "../../src/application/log-format.ts";
import { errorMessage } from "../../src/domain/errors.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { collect } from "../support/collect.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { rejection } from "../support/rejection.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";

const at = "2026-11-05T10:00:00.000Z";

const event = (type: string, data: object = {}): NewEvent => ({ id: randomUUID(), type, data, metadata: {} });
const append = (store: EventStore, stream: string, ...events: NewEvent[]) =>
  store.append(stream, events, "any");
const formatRecorded = (format: unknown, version: unknown = "0.9.0") =>
  event("LogFormatRecorded", { format, version, at });

/** Counts the events that are read from the store. */
const counting = (store: EventStore) => {
  const read = { events: 0 };
  const counted: EventStore = {
    ...store,
    async *readStream(...request) {
      for await (const one of store.readStream(...request)) {
        read.events += 1;
        yield one;
      }
    },
    async *subscribe(options) {
      for await (const batch of store.subscribe(options)) {
        read.events += batch.events.length;
        yield batch;
      }
    },
  };
  return { store: counted, read };
};

const openers = {
  sqlite: openTemporaryStore,
  eventstoredb: async () => {
    const node = await startEventStoreDBNode();
    const store = await openEventStoreDB({ url: node.url });
    return {
      store,
      remove: async () => {
        await store.close();
        await node.close();
      },
    };
  },
};

for (const [name, open] of Object.entries(openers)) {
  describe(`the format of a log (${name})`, () => {
    let store: EventStore;
    let remove: () => Promise<void>;
    beforeEach(async () => {
      ({ store, remove } = await open());
    });
    afterEach(() => remove());

    const begin = () => obtainEventLogId(createCommandHandler({ store }), "log-1", at);
    const typesOfLog = async () => (await collect(store.readStream("log"))).map(({ type }) => type);
    const refusal = async () => errorMessage(await rejection(requireLogFormat(store)));

    it("is recorded at the first start, once, and accepted from then on", async () => {
      await requireLogFormat(store);
      await Promise.all([begin(), begin()]);
      await requireLogFormat(store);
      expect(await begin()).to.equal("log-1");
      expect(await typesOfLog()).to.deep.equal(["LogBegun", "LogFormatRecorded"]);
    });

    it("is recorded in a log that an earlier version began, which keeps its id", async () => {
      await append(store, "log", event("LogBegun", { logId: "earlier", at }));
      await append(store, "journals", event("JournalOpened", { journal: "j", open: ["j"], at }));
      await append(store, "usage-vlk_1-2026-11", event("UsagePosted"));
      await requireLogFormat(store);
      expect(await begin()).to.equal("earlier");
      expect(await typesOfLog()).to.deep.equal(["LogBegun", "LogFormatRecorded"]);
    });

    it("is refused if it is a later one, with the version that reads it", async () => {
      await begin();
      await append(store, "log", formatRecorded(4));
      expect(await refusal()).to.equal(
        "the log has format 4, and this version reads the formats 2 and 3: start Voxledger 0.9.0 or a later version",
      );
    });

    it("is refused if it cannot be read", async () => {
      for (const malformed of [formatRecorded("3"), formatRecorded(1e300), formatRecorded(2, null)]) {
        await append(store, "log", malformed);
        expect(await refusal()).to.equal("the log states a format that cannot be read");
      }
    });

    it("is found in a few events of a long log that does not state it", async () => {
      await append(store, "log", event("LogBegun", { logId: "earlier", at }));
      await append(store, "key-vlk_1", event("KeyIssued"));
      await append(store, "journals", event("JournalOpened", { journal: "j", open: ["j"], at }));
      for (let batch = 0; batch < 10; batch++) {
        const servings = Array.from({ length: 500 }, () => event("SynthesesServed"));
        await append(store, "journal-j", ...servings);
        await append(store, "usage-vlk_1-2026-11", event("UsagePosted"));
      }
      const counted = counting(store);
      await requireLogFormat(counted.store);
      expect(counted.read.events).to.be.at.most(20);
    });
  });
}
