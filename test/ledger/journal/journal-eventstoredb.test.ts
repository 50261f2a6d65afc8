import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { JournalTakenOver, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import { event } from "../../contracts/event-store/events.ts";
import { collect } from "../../support/collect.ts";
import { randomLag, seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { until } from "../../support/processes.ts";
import { serving } from "../../support/servings.ts";
import { JournalProcess } from "./journal-process.ts";

describe("a journal on EventStoreDB", () => {
  describe("with index lag", () => {
    /** A store that counts reads. */
    const counted = (store: EventStore) => {
      const reading = {
        ...store,
        reads: 0,
        readStream: (...read: Parameters<EventStore["readStream"]>) => {
          reading.reads += 1;
          return store.readStream(...read);
        },
      };
      return reading;
    };

    const withLag = async (use: (store: EventStore, time: ManualTime) => Promise<void>) => {
      const time = createManualTime();
      let lagMs = 0;
      const node = await startEventStoreDBNode({ indexLagMs: () => lagMs, time });
      const store = await openEventStoreDB({ url: node.url, appendTimeoutMs: 15_000 });
      await store.append("first", [event()], "none");
      lagMs = 100;
      try {
        await use(store, time);
      } finally {
        await store.close();
        await node.close();
      }
    };

    it("fails a serving only when the closing event is readable", () =>
      withLag(async (store, time) => {
        const closing = closeJournal(store, Date.now, "j", "silent");
        await until("the closing event is not indexed", () => time.waiting() === 1);
        const reading = counted(store);
        const writer = new JournalWriter({ store: reading, journal: "j", clock: Date.now });
        let failure: unknown;
        const failed = new Promise<void>((resolve) =>
          writer.addServing(serving(), 0, (error) => {
            failure = error;
            resolve();
          }),
        );
        await until("the writer has read in vain", () => reading.reads > 2);
        expect(failure).to.equal(undefined);
        time.advance(100);
        await failed;
        expect(failure).to.be.instanceOf(JournalTakenOver);
        expect(await closing).to.equal(0);
        expect(await writer.close("shutdown")).to.equal(0);
      }));

    it("is closed after an append that reads do not show yet", () =>
      withLag(async (store, time) => {
        const writer = new JournalWriter({ store, journal: "j", clock: Date.now });
        writer.addServing(serving(), 0, () => {});
        await until("the serving is not indexed", () => time.waiting() === 1);
        const reading = counted(store);
        const closing = closeJournal(reading, Date.now, "j", "silent");
        await until("the closing has read in vain", () => reading.reads > 2);
        time.advance(100);
        await until("the closing event is not indexed", () => time.waiting() === 1);
        time.advance(100);
        expect(await closing).to.equal(1);
        const events = await collect(store.readStream(journalStream("j")));
        expect(events.map(({ type }) => type)).to.deep.equal(["SynthesesServed", "JournalClosed"]);
      }));
  });

  it("holds what two processes have completed, through cuts, freezes, lost responses and fences", async () => {
    const random = seededRandom(7);
    const node = await startEventStoreDBNode({ indexLagMs: randomLag(7, 50), commitTimeoutMs: 200 });
    const stores = await Promise.all(
      [0, 1, 2].map(() => openEventStoreDB({ url: node.url, appendTimeoutMs: 300 })),
    );
    const [fencer, ...own] = stores as [EventStore, ...EventStore[]];
    const processes = own.map(
      (store, index) =>
        new JournalProcess(`p${index}`, { store, clock: Date.now, deadlineMs: 400, maxFlushBytes: 20_000 }),
    );
    const fence = async () => {
      const { journal } = processes[random() < 0.5 ? 0 : 1] as JournalProcess;
      await closeJournal(fencer, Date.now, journal, "silent").catch((error: unknown) => {
        if (!(error instanceof EventStoreUnavailable)) throw error;
      });
    };
    const disturbances: readonly (() => unknown)[] = [
      node.faults.killConnections,
      () => node.faults.loseResponses(1 + Math.floor(random() * 3)),
      () => node.faults.breakBatchStreams(2),
      async () => {
        node.faults.freezeAppends();
        await delay(random() * 600);
        node.faults.thawAppends();
      },
      fence,
      fence,
    ];
    try {
      for (let round = 0; round < 60; round++) {
        for (const process of processes) {
          for (let index = 0; index < 40; index++) process.serve();
          process.void();
        }
        if (round % 3 === 0) await disturbances[Math.floor(random() * disturbances.length)]?.();
        await delay(random() * 40);
      }
      await until("every request is answered", () => processes.every(({ unanswered }) => unanswered === 0));
      for (const process of processes) {
        let journal: string;
        do {
          journal = process.journal;
          await process.close();
        } while (journal !== process.journal);
        await process.verify(fencer);
      }
      const successes = processes.flatMap(({ responses }) =>
        [...responses.values()].filter((response) => "at" in response),
      );
      expect(successes.length).to.be.above(100);
      expect(processes.flatMap(({ journals }) => journals).length).to.be.above(2);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await node.close();
    }
  });
});
