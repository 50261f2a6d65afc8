import { expect } from "chai";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import { usageTotals } from "../../../projections/usage-totals.ts";
import type { AudioSource } from "../../../src/domain/ledger/journal/serving.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { createCountedUsage, createCountUsage } from "../../../src/ledger/reports/counted-usage.ts";
import { createUsageOverview } from "../../../src/ledger/reports/usage-overview.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { serving } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";

const now = Date.parse("2026-11-05T10:00:00.000Z");
const month = "2026-11";
const principal = (apiKey: string) => testPrincipal({ apiKey, websiteId: `web-${apiKey}` });

const stores: [name: string, open: () => Promise<{ store: EventStore; remove(): Promise<void> }>][] = [
  ["SQLite", openTemporaryStore],
  ["EventStoreDB with index lag", openLaggingStore],
];

for (const [name, openStore] of stores)
  describe(`the usage of all keys on ${name}`, () => {
    let store: EventStore;
    let remove: () => Promise<void>;
    let runner: ProjectionRunner;
    let ledgers: OpenLedger[];

    beforeEach(async () => {
      ({ store, remove } = await openStore());
      runner = createProjectionRunner({ store, projections: [usageTotals] });
      ledgers = [await openTestLedger(store, () => now), await openTestLedger(store, () => now)];
    });
    afterEach(async () => {
      await runner.close();
      for (const ledger of ledgers) await ledger.close(60_000);
      await remove();
    });

    const serve = (instance: number, apiKey: string, characters: number, cached: AudioSource = "miss") =>
      record((ledgers[instance] as OpenLedger).ledger, principal(apiKey), serving({ characters, cached }));
    const readCountedUsage = (withinMs = 240_000) =>
      createCountedUsage({ store, startRunner: () => runner, time: createManualTime(), withinMs }).read;

    it("is that of all instances, and is complete as soon as a request was completed", async () => {
      await runner.start();
      await serve(0, "a", 5);
      await serve(1, "a", 7, "memory");
      await serve(1, "b", 1, "store");
      const { asOfPosition, ...overview } = await createUsageOverview({
        readCountedUsage: readCountedUsage(),
        clock: () => now,
      })();
      expect(overview.isComplete).to.equal(true);
      expect(overview.today).to.deep.equal({
        from: "2026-11-05",
        requests: 3,
        characters: 13,
        voided: { requests: 0, characters: 0 },
        served: {
          miss: { requests: 1, characters: 5 },
          coalesced: { requests: 0, characters: 0 },
          memory: { requests: 1, characters: 7 },
          store: { requests: 1, characters: 1 },
        },
      });
      const accounts = createUsageReader({ store });
      const ofA = await accounts.usageOf({ apiKey: "a", month, asOf: { position: asOfPosition } });
      expect(ofA.characters).to.equal(12);
    });

    it("is followed from the first request until ten minutes after the last one", async () => {
      const time = createManualTime();
      const runners: ProjectionRunner[] = [];
      const startRunner = () => {
        const started = createProjectionRunner({ store, projections: [usageTotals] });
        runners.push(started);
        void started.start();
        return started;
      };
      const counted = createCountedUsage({ store, startRunner, time, withinMs: 240_000 });
      const charactersOfA = async () => {
        const { totals, isComplete } = await counted.read();
        expect(isComplete).to.equal(true);
        return totals.months[month]?.a?.characters;
      };
      await serve(0, "a", 5);
      expect(counted.status()).to.equal(undefined);
      expect(await charactersOfA()).to.equal(5);
      time.advance(9 * 60_000);
      await serve(1, "a", 7);
      expect(await charactersOfA()).to.equal(12);
      time.advance(9 * 60_000);
      expect(counted.status()?.live).to.equal(true);
      time.advance(60_000);
      expect(counted.status()).to.equal(undefined);
      expect(await charactersOfA()).to.equal(12);
      expect(runners).to.have.length(2);
      await counted.close();
      expect(time.waiting()).to.equal(0);
    });

    it("is read from the accounts, as of the same kind of position, until the totals are complete", async () => {
      await serve(0, "a", 5);
      const accounts = createUsageReader({ store });
      const countWithin = (ms?: number) =>
        createCountUsage({ readCountedUsage: readCountedUsage(ms), accounts, keysRead: 1 })(
          ["a", "b"],
          month,
        );
      const read = await countWithin(0);
      await runner.start();
      const counted = await countWithin();
      expect(read).to.deep.equal(counted);
      expect(counted.counts.get("a")).to.deep.equal({ requests: 1, characters: 5 });
      expect(counted.counts.get("b")).to.deep.equal({ requests: 0, characters: 0 });
    });

    it("has nothing that is recorded or posted after the position at which an account reader begins", async () => {
      await serve(0, "a", 5);
      let disturb: Promise<void> | undefined;
      const disturbed: EventStore = {
        ...store,
        readStream: async function* (stream, options) {
          if (stream.startsWith("usage-")) {
            disturb ??= serve(0, "a", 100).then(async () => {
              await serve(1, "a", 1_000);
              await Promise.all(ledgers.map((ledger) => ledger.close(60_000)));
            });
            await disturb;
          }
          yield* store.readStream(stream, options);
        },
      };
      const { asOfPosition, counts } = await createUsageReader({ store: disturbed }).countsOf(["a"], month);
      expect(counts.get("a")).to.deep.equal({ requests: 1, characters: 5 });
      const accounts = createUsageReader({ store });
      const { counts: later, asOfPosition: laterPosition } = await accounts.countsOf(["a"], month);
      expect(later.get("a")).to.deep.equal({ requests: 3, characters: 1_105 });
      expect(laterPosition).to.be.above(asOfPosition);
    });
  });
