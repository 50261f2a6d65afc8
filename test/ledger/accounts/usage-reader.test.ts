import { expect } from "chai";
import fc from "fast-check";
import { postedTotals } from "../../../src/domain/ledger/accounts/usage-sum.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { KnownEntries } from "../../../src/ledger/accounts/known-entries.ts";
import { createUsageReader, postedBy, spentBy } from "../../../src/ledger/accounts/usage-reader.ts";
import { retryWhileUnavailable } from "../../eventstore/unavailable.ts";
import { synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { serving } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { plainSum } from "./posted-journal.ts";
import { action, type Entry, keyNames, months, runActions } from "./random-postings.ts";

const stores: [
  name: string,
  runs: number,
  open: () => Promise<{ store: EventStore; remove(): Promise<void> }>,
][] = [
  ["SQLite", 25, openTemporaryStore],
  ["EventStoreDB with index lag", 5, openLaggingStore],
];

/**
 * Node.js's HTTP/2 server, and so the test node, ends a connection after about 1,000 calls that the
 * client closes within seconds, completed ones included. The scenario then begins again with other
 * keys.
 */
const repeatedIfUnavailable =
  <Args extends unknown[]>(scenario: (...args: Args) => Promise<void>) =>
  (...args: Args): Promise<void> =>
    retryWhileUnavailable(() => scenario(...args));

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
      const property = fc.asyncProperty(
        fc.array(action, { maxLength: 40 }),
        fc.nat(),
        repeatedIfUnavailable(async (actions, cut) => {
          const prefix = `k${runs++}-`;
          const known = new KnownEntries();
          const { entries, closed, errors } = await runActions(store, actions, prefix, known);
          const source = cut % 2 === 0 ? { store, known } : { store };
          const reader = createUsageReader(source);
          if (errors.some((error) => error.includes("EventStoreUnavailable")))
            throw new EventStoreUnavailable("a posting was interrupted");
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
                expect(await spentBy(source, one, apiKey, month)).to.equal(expected(own).characters);
                expect(await postedBy({ store }, one, apiKey, month)).to.equal(expected(own).characters);
              }
            }
          }
        }),
      );
      await fc.assert(property, { numRuns, includeErrorInReport: true });
    });

    it("finds every entry once while entries are recorded, posted and followed", async () => {
      let runs = 0;
      const property = fc.asyncProperty(
        fc.array(action, { maxLength: 30 }),
        fc.array(fc.constantFrom("post", "check", "follow", "serve"), { minLength: 1, maxLength: 12 }),
        repeatedIfUnavailable(async (actions, meanwhile) => {
          const prefix = `m${runs++}-`;
          const known = new KnownEntries();
          const { entries, opened } = await runActions(store, actions, prefix, known);
          const steps = [...meanwhile];
          let at = Date.parse("2027-01-01T00:00:00.000Z");
          const disturb = async (): Promise<void> => {
            const step = steps.shift();
            if (step === "post") for (const { advance } of opened) await advance(15 * 60_000);
            else if (step === "check") for (const { advance } of opened) await advance(60_000);
            else if (step === "follow")
              known.follow(await collect(store.readStream(journalStream(opened[1]?.log.journal ?? ""))));
            else if (step === "serve")
              for (const { record } of opened)
                await record(
                  synthesesServed(new Date(at++).toISOString(), [serving({ apiKey: `${prefix}a` })]),
                );
          };
          let disturbances = Promise.resolve();
          const disturbed: EventStore = {
            ...store,
            async *readStream(...read) {
              disturbances = disturbances.then(disturb);
              await disturbances;
              yield* store.readStream(...read);
            },
          };
          const reader = createUsageReader({ store: disturbed, known });
          for (const month of months) {
            for (const key of keyNames) {
              const apiKey = prefix + key;
              const expected = plainSum(
                entries.map(({ event }) => event),
                apiKey,
                month,
              );
              // What is served meanwhile is of a later month.
              expect(totalsOf(await reader.usageOf({ apiKey, month }))).to.deep.equal(expected);
              const { counts } = await reader.countsOf([apiKey], month);
              const { requests, characters } = expected;
              expect(counts.get(apiKey)).to.deep.equal({ requests, characters });
            }
          }
        }),
      );
      await fc.assert(property, { numRuns, includeErrorInReport: true });
    });
  });
}

const totalsOf = (sum: Parameters<typeof postedTotals>[0]) => {
  const { until: _, ...totals } = postedTotals(sum);
  return totals;
};
