import { expect } from "chai";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import type { Serving } from "../../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import { RecentCharges } from "../../../src/ledger/session/recent-charges.ts";
import { duringTest } from "../../support/during.ts";
import { until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { serving, voided } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const minute = 60_000;

describe("the recent charges", () => {
  const temporary = duringTest(openTemporaryStore);
  let now: number;
  let open: RecentCharges[];

  beforeEach(async () => {
    now = Date.parse("2026-11-05T10:00:00.000Z");
    open = [];
  });

  afterEach(async () => {
    for (const charges of open) charges.close();
  });

  const clock = () => now;

  const create = (store: EventStore = temporary.store): RecentCharges => {
    const charges = new RecentCharges({ store, clock });
    open.push(charges);
    return charges;
  };

  const registry = () =>
    createJournalRegistry(createCommandHandler({ store: temporary.store, clock }), clock);

  const openJournal = async (journal: string, charges?: RecentCharges): Promise<JournalWriter> => {
    const position = await registry().open(journal);
    await charges?.follow(journal, position);
    return new JournalWriter({
      store: temporary.store,
      journal,
      clock,
      ...(charges && { onFlushed: charges.add }),
    });
  };

  const serve = (writer: JournalWriter, one: Serving): Promise<string> =>
    new Promise((resolve, reject) =>
      writer.addServing(one, keyNumberOf(one.apiKey), (error, at) => (error ? reject(error) : resolve(at))),
    );

  it("include what this process has charged, for ten minutes", async () => {
    const charges = create();
    const writer = await openJournal("own", charges);
    await serve(writer, serving({ hash: "x" }));
    await serve(writer, serving({ hash: "free", characters: 0 }));
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
    expect(charges.wasCharged("vlk_1", "free")).to.equal(false);
    expect(charges.wasCharged("vlk_2", "x")).to.equal(false);
    now += 10 * minute;
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
    now += 1;
    expect(charges.wasCharged("vlk_1", "x")).to.equal(false);
  });

  it("belong to the key that was charged, when several keys share a flush", async () => {
    const charges = create();
    const writer = await openJournal("own", charges);
    const servings = [
      serving({ apiKey: "vlk_2", hash: "x", requestId: "r-1" }),
      serving({ apiKey: "vlk_1", hash: "y", requestId: "r-2" }),
    ];
    await Promise.all(servings.map((one) => serve(writer, one)));
    const charged = ["vlk_1", "vlk_2"].map((key) =>
      ["x", "y"].filter((hash) => charges.wasCharged(key, hash)),
    );
    expect(charged).to.deep.equal([["y"], ["x"]]);
  });

  it("follow the journals of other processes, those that are opened later included", async () => {
    const charges = create();
    const early = await openJournal("early");
    await openJournal("own", charges);
    await serve(early, serving({ hash: "x" }));
    const late = await openJournal("late");
    await serve(late, serving({ hash: "y" }));
    await until("both are known", () => charges.wasCharged("vlk_1", "x") && charges.wasCharged("vlk_1", "y"));
    late.addVoids([voided(serving({ hash: "y" }), new Date(now).toISOString())]);
    await until("the void is known", () => !charges.wasCharged("vlk_1", "y"));
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
  });

  it("count the bytes of private audio that other processes have sent, except by repeats", async () => {
    const charges = create();
    const other = await openJournal("other");
    await openJournal("own", charges);
    const partOf = (bytes: number, more: Partial<Serving> = {}): Serving =>
      serving({ hash: "x", partial: true, part: { bytes, size: 100 }, ...more });
    await serve(other, partOf(30));
    await serve(other, partOf(50, { characters: 0 }));
    await serve(other, partOf(20, { characters: 0, repeat: true }));
    await serve(other, serving({ hash: "last" }));
    await until("the other journal is read", () => charges.wasCharged("vlk_1", "last"));
    expect([20, 21].map((bytes) => charges.isPaid(partOf(bytes)))).to.deep.equal([true, false]);
  });

  it("count each charge once, although the first read of the journals failed at its end", async () => {
    const other = await openJournal("other");
    await serve(other, serving({ hash: "x" }));
    let failures = 1;
    const store: EventStore = {
      ...temporary.store,
      readStream: async function* (stream, options) {
        yield* temporary.store.readStream(stream, options);
        if (stream === journalStream("other") && failures-- > 0) throw new EventStoreUnavailable("down");
      },
    };
    const charges = create(store);
    const position = await registry().open("own");
    expect(await rejection(charges.follow("own", position))).to.be.instanceOf(EventStoreUnavailable);
    await charges.follow("own", position);
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
    other.addVoids([voided(serving({ hash: "x" }), new Date(now).toISOString())]);
    await until("the void is known", () => !charges.wasCharged("vlk_1", "x"));
  });

  it("do not wait for a journal of this process that is opened while they catch up", async () => {
    const gate = Promise.withResolvers<void>();
    const read: string[] = [];
    let isHeld = false;
    const store: EventStore = {
      ...temporary.store,
      readStream: async function* (stream, options) {
        if (isHeld) read.push(stream);
        if (isHeld && stream === journalRegistryStream) await gate.promise;
        yield* temporary.store.readStream(stream, options);
      },
    };
    const charges = create(store);
    await charges.follow("first", await registry().open("first"));
    await openJournal("other");
    isHeld = true;
    const caughtUp = charges.catchUp();
    await charges.follow("second", await registry().open("second"));
    gate.resolve();
    await caughtUp;
    expect(read).to.include(journalStream("other")).and.not.include(journalStream("second"));
  });

  it("read the ends of the other journals once for many that catch up at once", async () => {
    let registryReads = 0;
    const store: EventStore = {
      ...temporary.store,
      readStream: (stream, options) => {
        if (stream === journalRegistryStream) registryReads += 1;
        return temporary.store.readStream(stream, options);
      },
    };
    const charges = create(store);
    await openJournal("own", charges);
    await openJournal("other");
    registryReads = 0;
    await Promise.all(Array.from({ length: 100 }, () => charges.catchUp()));
    expect(registryReads).to.equal(1);
  });

  it("include at the start what open and recently retired journals charged within ten minutes", async () => {
    const at = new Date(now).toISOString();
    const old = await openJournal("old");
    await serve(old, serving({ hash: "old" }));
    await old.close("idle");
    await registry().forget("old");
    now += 11 * minute;
    const other = await openJournal("other");
    await serve(other, serving({ hash: "x" }));
    await serve(other, serving({ hash: "voided" }));
    other.addVoids([voided(serving({ hash: "voided" }), new Date(now).toISOString())]);
    other.addVoids([voided(serving({ hash: "old" }), at)]);
    await other.flushed();
    const retired = await openJournal("retired");
    await serve(retired, serving({ hash: "y" }));
    await retired.close("shutdown");
    await registry().forget("retired");
    const charges = create();
    await openJournal("own", charges);
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
    expect(charges.wasCharged("vlk_1", "y")).to.equal(true);
    expect(charges.wasCharged("vlk_1", "voided")).to.equal(false);
    expect(charges.wasCharged("vlk_1", "old")).to.equal(false);
  });

  it("include at the start the newest charges of each journal, when there are too many", async () => {
    const busy = await openJournal("busy");
    const quiet = await openJournal("quiet");
    const servedPerRound = 5_000;
    for (let round = 0; round < 12; round++) {
      const keys = Array.from({ length: servedPerRound }, (_, index) => `vlk_${round}_${index}`);
      await Promise.all(keys.map((apiKey) => serve(busy, serving({ apiKey }))));
      await serve(quiet, serving({ apiKey: `vlk_quiet_${round}` }));
      now += minute / 2;
    }
    const charges = create();
    const own = await openJournal("own", charges);
    now += 5 * minute;
    await serve(own, serving({ apiKey: "vlk_own" }));
    for (const apiKey of ["vlk_11_0", "vlk_11_4999", "vlk_quiet_11", "vlk_own"])
      expect(charges.wasCharged(apiKey, serving({}).hash), apiKey).to.equal(true);
  });

  it("stay after the void of another charge for the same object in the same flush", async () => {
    const charges = create();
    const other = await openJournal("other");
    const at = await serve(other, serving({ hash: "early" }));
    other.addVoids([voided(serving({ hash: "early" }), at)]);
    const own = await openJournal("own", charges);
    const [first] = await Promise.all([
      serve(own, serving({ requestId: "r-1", hash: "x" })),
      serve(own, serving({ requestId: "r-2", hash: "x" })),
      serve(other, serving({ requestId: "r-3", hash: "y" })),
      serve(other, serving({ requestId: "r-4", hash: "y" })),
    ]);
    own.addVoids([voided(serving({ requestId: "r-1", hash: "x" }), first)]);
    other.addVoids([voided(serving({ requestId: "r-4", hash: "y" }), first)]);
    await Promise.all([own.flushed(), other.flushed()]);
    await serve(other, serving({ hash: "last" }));
    await until("the other journal is read", () => charges.wasCharged("vlk_1", "last"));
    expect(charges.wasCharged("vlk_1", "x")).to.equal(true);
    expect(charges.wasCharged("vlk_1", "y")).to.equal(true);
    expect(charges.wasCharged("vlk_1", "early")).to.equal(false);
  });

  it("forget a voided charge of the own journal also after the next one is opened", async () => {
    const charges = create();
    const first = await openJournal("first", charges);
    const at = await serve(first, serving({ hash: "x" }));
    await first.close("idle");
    const second = await openJournal("second", charges);
    second.addVoids([{ ...voided(serving({ hash: "x" }), at), journal: "first" }]);
    await second.flushed();
    const other = await openJournal("other");
    await serve(other, serving({ hash: "last" }));
    await until("the other journal is read", () => charges.wasCharged("vlk_1", "last"));
    expect(charges.wasCharged("vlk_1", "x")).to.equal(false);
  });

  it("never read the events of the own journal, also after the next one is opened", async () => {
    const seen = new Set<string>();
    const charges = create({
      ...temporary.store,
      subscribe: (options) => {
        const batches = temporary.store.subscribe(options);
        return (async function* () {
          for await (const batch of batches) {
            for (const { stream } of batch.events) seen.add(stream);
            yield batch;
          }
        })();
      },
    });
    const first = await openJournal("first", charges);
    await serve(first, serving({ hash: "x" }));
    await first.close("idle");
    const second = await openJournal("second", charges);
    await serve(second, serving({ hash: "y" }));
    const other = await openJournal("other");
    await serve(other, serving({ hash: "z" }));
    await until("the other journal is read", () => charges.wasCharged("vlk_1", "z"));
    expect([...seen]).not.to.include("journal-second");
  });
});
