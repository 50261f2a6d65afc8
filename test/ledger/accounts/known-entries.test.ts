import { expect } from "chai";
import { systemTime, type Time } from "../../../src/async/time.ts";
import { journalPrefix, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { KnownEntries } from "../../../src/ledger/accounts/known-entries.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { serving } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";
import { disturbedStore } from "../disturbed-store.ts";
import { openPostedJournal } from "./posted-journal.ts";

const now = Date.parse("2026-11-05T10:00:00.000Z");
const month = "2026-11";
const servings = 60;
/**
 * The ends of journals, their first unposted events, and what was recorded since the last followed
 * event.
 */
const fewEvents = 12;

/** Counts the events of journals that are read. */
const countingStore = (store: EventStore) => {
  const counting = {
    ...store,
    read: 0,
    async *readStream(...[stream, options]: Parameters<EventStore["readStream"]>) {
      for await (const event of store.readStream(stream, options)) {
        if (stream.startsWith(journalPrefix)) counting.read += 1;
        yield event;
      }
    },
  };
  return counting;
};

describe("a report of a process that records and follows servings", () => {
  const temporary = duringTest(openTemporaryStore);
  const opened: OpenLedger[] = [];

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ close }) => close(0)));
  });

  const openInstance = async (knownEntries = new KnownEntries()): Promise<OpenLedger> => {
    const instance = await openTestLedger(temporary.store, () => now, { knownEntries });
    opened.push(instance);
    return instance;
  };

  /** Each serving has an event of its own. */
  const serve = async ({ ledger }: OpenLedger): Promise<void> => {
    for (let n = 0; n < servings; n++) {
      const principal = testPrincipal({ apiKey: n % 2 === 0 ? "k" : "other", monthlyCharacters: null });
      await record(ledger, principal, servedAudio({ requestId: crypto.randomUUID(), characters: 2 }));
    }
  };

  const readOf = async (known: KnownEntries) => {
    const store = countingStore(temporary.store);
    const reader = createUsageReader({ store, known });
    const { characters } = await reader.usageOf({ apiKey: "k", month });
    const { counts } = await reader.countsOf(["k", "new"], month);
    expect(counts.get("k")?.characters).to.equal(characters);
    expect(counts.get("new")?.characters).to.equal(0);
    return { characters, read: store.read };
  };

  it("reads few events of journals, however many of its own and of others are not posted", async () => {
    const known = new KnownEntries();
    const [own, other] = [await openInstance(known), await openInstance()];
    await serve(own);
    await serve(other);
    // Follows all that other instances have recorded.
    await own.ledger.wasChargedByAny("nobody", ["hash"]);
    const { characters, read } = await readOf(known);
    expect(characters).to.equal(2 * servings);
    expect(read).to.be.lessThan(fewEvents);
    expect((await readOf(new KnownEntries())).read).to.be.greaterThan(2 * servings);
  });

  it("reads few events of journals that were not posted when the process began", async () => {
    const earlier = await openInstance();
    await serve(earlier);
    const known = new KnownEntries();
    const { ledger } = await openInstance(known);
    await serve(earlier);
    await ledger.wasChargedByAny("nobody", ["hash"]);
    await known.catchUp(temporary.store);
    const { characters, read } = await readOf(known);
    expect(characters).to.equal(2 * servings);
    expect(read).to.be.lessThan(fewEvents);
  });

  it("reads few events of its own journal, also if some were followed before it was added", async () => {
    const known = new KnownEntries();
    const { log, record: add, postings } = await openPostedJournal(temporary.store);
    for (let n = 0; n < servings; n++)
      await add(synthesesServed(new Date(now + n).toISOString(), [serving({ apiKey: "k", characters: 1 })]));
    known.follow((await collect(temporary.store.readStream(journalStream(log.journal)))).slice(0, 2));
    known.addOwn(log.journal, postings);
    const { characters, read } = await readOf(known);
    expect(characters).to.equal(servings);
    expect(read).to.be.lessThan(fewEvents);
  });

  it("keeps nothing of journals in which another program writes", async () => {
    const known = new KnownEntries();
    const event = { id: "e", type: "Booked", data: {}, metadata: {}, created: now };
    known.follow([
      { ...event, stream: "journal-42", revision: 0, position: 1 },
      { ...event, stream: "journal-43", revision: 0, position: 2, type: "MalformedEvent" },
    ]);
    expect((await known.snapshot([])).postedUpTo.size).to.equal(0);
  });

  it("reads no journal for no key", async () => {
    const known = new KnownEntries();
    await serve(await openInstance(known));
    for (const source of [{ store: temporary.store }, { store: temporary.store, known }]) {
      expect((await createUsageReader(source).countsOf([], month)).counts.size).to.equal(0);
    }
  });

  it("is right if more servings of a key are unposted than a process keeps in memory", async () => {
    const known = new KnownEntries();
    const { log, record: add } = await openPostedJournal(temporary.store, { maxServings: 1e6 });
    const many = Array.from({ length: 200 }, () => serving({ apiKey: "k", characters: 1 }));
    for (let n = 0; n < 25; n++) await add(synthesesServed(new Date(now + n).toISOString(), many));
    const events = await collect(temporary.store.readStream(journalStream(log.journal)));
    known.follow(events.slice(3));
    expect((await readOf(known)).characters).to.equal(25 * many.length);
    await known.catchUp(temporary.store);
    expect((await readOf(known)).characters).to.equal(25 * many.length);
  });

  it("is right if some events of a journal were not followed", async () => {
    const known = new KnownEntries();
    const { log, record: add } = await openPostedJournal(temporary.store);
    for (let n = 0; n < 6; n++)
      await add(synthesesServed(new Date(now + n).toISOString(), [serving({ apiKey: "k", characters: 1 })]));
    const events = await collect(temporary.store.readStream(journalStream(log.journal)));
    known.follow(events.slice(0, 2));
    known.follow(events.slice(3));
    expect((await readOf(known)).characters).to.equal(6);
  });

  it("is right if events before the followed ones never become readable", async () => {
    const time: Time = {
      now: () => 0,
      after: (_, run) => {
        setImmediate(run);
        return () => undefined;
      },
    };
    const known = new KnownEntries({ time });
    const { log, record: add } = await openPostedJournal(temporary.store);
    for (let n = 0; n < 6; n++)
      await add(synthesesServed(new Date(now + n).toISOString(), [serving({ apiKey: "k", characters: 1 })]));
    const events = await collect(temporary.store.readStream(journalStream(log.journal)));
    const { store } = temporary;
    const lossy: EventStore = {
      ...store,
      async *readStream(...request) {
        for await (const event of store.readStream(...request))
          if (event.stream !== events[3]?.stream || event.revision < 2) yield event;
      },
    };
    known.follow(events.slice(3));
    await known.catchUp(lossy);
    expect((await readOf(known)).characters).to.equal(6);
  });

  it("includes what is being posted, once", async () => {
    const store = disturbedStore(temporary.store);
    const known = new KnownEntries();
    const { log, record: add, postings } = await openPostedJournal(store, { maxServings: 2 });
    known.addOwn(log.journal, postings);
    const two = [1, 2].map(() => serving({ apiKey: "k", characters: 1 }));
    await add(synthesesServed(new Date(now).toISOString(), two.slice(1)));
    store.hold();
    const [first] = await collect(store.readStream(journalStream(log.journal)));
    const at = new Date(now + 1).toISOString();
    postings.add([{ ...synthesesServed(at, two), revision: 1, position: first?.position ?? 0, digest: "" }]);
    await until(() => store.held === 1);
    expect((await readOf(known)).characters).to.equal(3);
    store.release();
    await postings.close();
    expect((await readOf(known)).characters).to.equal(3);
  });

  it("is right if more is unposted than a process keeps in memory", async () => {
    const known = new KnownEntries({ maxFollowed: 10 });
    const { log, record: add } = await openPostedJournal(temporary.store);
    for (let n = 0; n < 50; n++) {
      const at = new Date(now + n).toISOString();
      await add(synthesesServed(at, [serving({ apiKey: n % 2 === 0 ? `k${n}` : "k", characters: 2 })]));
    }
    for (const event of await collect(temporary.store.readStream(journalStream(log.journal))))
      known.follow([event]);
    expect((await readOf(known)).characters).to.equal(50);
  });

  it("forgets what it has read of other journals if it is more than a process keeps in memory", async () => {
    const { log, record: add } = await openPostedJournal(temporary.store);
    const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
    for (const apiKey of keys) await add(synthesesServed(new Date(now).toISOString(), [serving({ apiKey })]));
    for (const [maxFollowed, isKept] of [
      [49, false],
      [50, true],
    ] as const) {
      const known = new KnownEntries({ maxFollowed });
      await known.catchUp(temporary.store);
      expect((await known.snapshot([])).postedUpTo.has(log.journal)).to.equal(isKept);
    }
  });

  describe("whose last posting cannot be read yet", () => {
    /** Hides the events after a position for a number of reads, as an index that lags does. */
    const laggingStore = (hiddenAfter: number, reads: number): EventStore => {
      let left = reads;
      const { store } = temporary;
      return {
        ...store,
        async *readStream(stream, options = {}) {
          const isHidden = left-- > 0;
          const { limit, ...rest } = options;
          let count = 0;
          for await (const event of store.readStream(stream, isHidden ? rest : options)) {
            if (isHidden && event.position > hiddenAfter) continue;
            yield event;
            count += 1;
            if (count === limit) return;
          }
        },
      };
    };

    const usageAfter = async (hiddenReads: number) => {
      const known = new KnownEntries();
      const { log, record: add, advance, postings } = await openPostedJournal(temporary.store);
      known.addOwn(log.journal, postings);
      await add(synthesesServed(new Date(now).toISOString(), [serving({ apiKey: "k", characters: 2 })]));
      const [entry] = await collect(temporary.store.readStream(journalStream(log.journal)));
      await advance(15 * 60_000);
      // Posts, then notes in the journal that everything is posted.
      await advance(60_000);
      await advance(60_000);
      expect(postings.postedUpTo).to.equal(0);
      const lagging = laggingStore(entry?.position ?? 0, hiddenReads);
      let isJournalRead = false;
      const store: EventStore = {
        ...lagging,
        async *readStream(stream, options) {
          for await (const event of lagging.readStream(stream, options)) {
            isJournalRead ||= event.type === "SynthesesServed" && options?.direction !== "backwards";
            yield event;
          }
        },
      };
      const time = { ...systemTime, after: (_: number, run: () => void) => systemTime.after(0, run) };
      const { characters } = await createUsageReader({ store, known, time }).usageOf({
        apiKey: "k",
        month,
      });
      return { characters, isJournalRead };
    };

    it("waits until it can be read", async () => {
      expect(await usageAfter(20)).to.deep.equal({ characters: 2, isJournalRead: false });
    });

    it("reads the journals if it cannot be read at all", async () => {
      const hidden = await usageAfter(Number.POSITIVE_INFINITY);
      expect(hidden).to.deep.equal({ characters: 2, isJournalRead: true });
    });
  });
});
