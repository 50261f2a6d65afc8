import { expect } from "chai";
import fc from "fast-check";
import {
  createUsageReader,
  postedBy,
  spentBy,
} from "../../../../src/application/ledger/usage-accounts/usage-reader.ts";
import { postedTotals } from "../../../../src/domain/ledger/usage-accounts/usage-sum.ts";
import type { EventStore } from "../../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { startEventStoreDBProcess } from "../../../support/eventstoredb-process.ts";
import { openTemporaryStore } from "../../../support/temporary-store.ts";
import { plainSum } from "./posted-journal.ts";
import { action, type Entry, keyNames, months, runActions } from "./random-postings.ts";

const stores: [
  name: string,
  runs: number,
  open: () => Promise<{ store: EventStore; remove(): Promise<void> }>,
][] = [
  ["SQLite", 25, openTemporaryStore],
  ["EventStoreDB with index lag", 5, openLaggingNode],
];

async function openLaggingNode() {
  const node = await startEventStoreDBProcess(undefined, 0, 7);
  const store = await openEventStoreDB({ url: node.url });
  return {
    store,
    remove: async () => {
      await store.close();
      await node.kill();
    },
  };
}

for (const [name, numRuns, open] of stores) {
  describe(`the account reader on ${name}`, () => {
    let store: EventStore;
    let remove: () => Promise<void>;

    before(async () => {
      ({ store, remove } = await open());
    });

    after(() => remove());

    it("finds every entry once, now and as of any position and time, however entries were posted", async () => {
      let runs = 0;
      const reader = createUsageReader({ store });
      const property = fc.asyncProperty(
        fc.array(action, { maxLength: 40 }),
        fc.nat(),
        async (actions, cut) => {
          const prefix = `k${runs++}-`;
          const { entries, closed, errors } = await runActions(store, actions, prefix);
          expect(errors).to.deep.equal([]);
          const { position, event } = entries[cut % entries.length] ?? { position: 0, event: undefined };
          const time = Date.parse(event?.data.at ?? "2026-11-30T22:00:00.000Z");
          const upToPosition = entries.filter((entry) => entry.position <= position);
          const upToTime = entries.filter(({ event: { data } }) => Date.parse(data.at) <= time);
          for (const month of months) {
            const { counts } = await reader.countsOf(
              keyNames.map((key) => prefix + key),
              month,
            );
            for (const apiKey of counts.keys()) {
              const expected = (some: readonly Entry[]) =>
                plainSum(
                  some.map((entry) => entry.event),
                  apiKey,
                  month,
                );
              const read = async (asOf = {}) => totalsOf(await reader.usageOf({ apiKey, month, asOf }));
              expect(await read()).to.deep.equal(expected(entries));
              expect(await read({ position })).to.deep.equal(expected(upToPosition));
              expect(await read({ time })).to.deep.equal(expected(upToTime));
              const both = upToTime.filter((entry) => upToPosition.includes(entry));
              expect(await read({ time, position })).to.deep.equal(expected(both));
              const { requests, characters } = expected(entries);
              expect(counts.get(apiKey)).to.deep.equal({ requests, characters });
              for (const one of closed) {
                const own = entries.filter((entry) => entry.journal === one);
                expect(await spentBy(store, one, apiKey, month)).to.equal(expected(own).characters);
                expect(await postedBy(store, one, apiKey, month)).to.equal(expected(own).characters);
              }
            }
          }
        },
      );
      await fc.assert(property, { numRuns });
    });
  });
}

const totalsOf = (sum: Parameters<typeof postedTotals>[0]) => {
  const { until: _, ...totals } = postedTotals(sum);
  return totals;
};
