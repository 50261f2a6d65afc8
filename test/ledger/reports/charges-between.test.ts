import { expect } from "chai";
import fc from "fast-check";
import { type Charge, chargesOf } from "../../../src/domain/ledger/journal/charges.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { KnownEntries } from "../../../src/ledger/accounts/known-entries.ts";
import { type ChargesRequest, createChargeReader } from "../../../src/ledger/reports/charges-between.ts";
import { servingsVoided, synthesesServed } from "../../support/build-journal-events.ts";
import { startEventStoreDBProcess } from "../../support/eventstoredb-process.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openPostedJournal } from "../accounts/posted-journal.ts";
import { action, keyNames, runActions } from "../accounts/random-postings.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** The actions begin at this time. */
const start = Date.parse("2026-11-30T22:00:00.000Z");

describe("the reader of charges", () => {
  let store: EventStore;
  let remove: (() => Promise<void>) | undefined;

  afterEach(() => remove?.());

  const read = async (request: ChargesRequest, width: number, known?: KnownEntries) => {
    const charges: Charge[] = [];
    await createChargeReader({ store, known })(request, (charge) => void charges.push(charge));
    return sumsOf(charges, width);
  };

  const findsEveryChargeOnce = async (numRuns: number) => {
    let runs = 0;
    const time = fc.oneof(
      fc.integer({ min: -30, max: 600 }).map((minutes) => start + minutes * minute),
      fc.constantFrom(-2, -1, 0, 1, 2).map((days) => Math.floor(start / day) * day + days * day),
    );
    const property = fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.tuple(time, time),
      fc.option(time, { nil: start + 400 * day }),
      fc.boolean(),
      async (actions, times, asOf, byDay) => {
        const prefix = `c${runs++}-`;
        const known = new KnownEntries();
        const { entries } = await runActions(store, actions, prefix, known);
        const [from, to] = [Math.min(...times), Math.max(...times) + 1];
        const apiKeys = keyNames.slice(0, 2).map((key) => prefix + key);
        const width = byDay ? day : minute;
        const expected = entries
          .filter(({ event }) => Date.parse(event.data.at) <= asOf)
          .flatMap(({ event }) => chargesOf(event))
          .filter(({ apiKey, servedAt }) => {
            const at = Date.parse(servedAt);
            return apiKeys.includes(apiKey) && from <= at && at < to;
          });
        const request = { apiKeys, fromInclusive: from, toExclusive: to, asOf, byDay };
        expect(await read(request, width)).to.deep.equal(sumsOf(expected, width));
        expect(await read(request, width, known)).to.deep.equal(sumsOf(expected, width));
      },
    );
    await fc.assert(property, { numRuns });
  };

  it("finds every charge of the range once, as of any time, however entries were posted", async () => {
    ({ store, remove } = await openTemporaryStore());
    await findsEveryChargeOnce(60);
  });

  it("finds a charge and a void that add up to nothing in one posting, but belong to different hours", async () => {
    ({ store, remove } = await openTemporaryStore());
    const { record, advance, postings } = await openPostedJournal(store);
    const [nine, ten] = ["2026-11-05T09:00:00.000Z", "2026-11-05T10:00:00.000Z"] as const;
    const serving = { apiKey: "a", characters: 5 };
    await record(synthesesServed(nine, [serving]));
    await advance(15 * minute);
    await postings.post();
    await record(synthesesServed(ten, [serving]));
    await record(servingsVoided(ten, [{ ...serving, servedAt: nine, reason: "unanswered" }]));
    await advance(15 * minute);
    await postings.post();
    const range = {
      apiKeys: ["a"],
      fromInclusive: Date.parse(nine),
      toExclusive: Date.parse(ten) + hour,
      asOf: start,
    };
    expect(await read({ ...range, byDay: false }, hour)).to.deep.equal({
      [`a g1 ${Date.parse(ten) / hour}`]: [1, 5],
    });
  });

  it("finds the charges from the first millisecond of the range to the last one before its end", async () => {
    ({ store, remove } = await openTemporaryStore());
    const [fromInclusive, toExclusive] = [start, start + hour];
    const { record } = await openPostedJournal(store);
    for (const time of [fromInclusive - 1, fromInclusive, toExclusive - 1, toExclusive])
      await record(synthesesServed(new Date(time).toISOString(), [{ apiKey: "k" }]));
    const found: number[] = [];
    const request = { apiKeys: ["k"], fromInclusive, toExclusive, asOf: start + day, byDay: false };
    await createChargeReader({ store })(request, ({ servedAt }) => void found.push(Date.parse(servedAt)));
    expect(found).to.deep.equal([fromInclusive, toExclusive - 1]);
  });

  it("finds every charge on EventStoreDB with index lag too", async () => {
    const node = await startEventStoreDBProcess(undefined, 0, 7);
    store = await openEventStoreDB({ url: node.url });
    remove = async () => {
      await store.close();
      await node.kill();
    };
    await findsEveryChargeOnce(5);
  });
});

/** The sums that are not zero, by key, engine and interval. */
const sumsOf = (charges: readonly Charge[], width: number): Record<string, [number, number]> => {
  const sums = new Map<string, [number, number]>();
  for (const { apiKey, engine, servedAt, requests, characters } of charges) {
    const name = `${apiKey} ${engine} ${Math.floor(Date.parse(servedAt) / width)}`;
    const [allRequests, allCharacters] = sums.get(name) ?? [0, 0];
    sums.set(name, [allRequests + requests, allCharacters + characters]);
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum.some((part) => part !== 0)).sort());
};
