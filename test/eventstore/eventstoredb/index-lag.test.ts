import { expect } from "chai";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import {
  event,
  expectConflict,
  ids,
  read,
  readLog,
  rejectionOf,
} from "../../contracts/event-store/events.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { until } from "../../support/processes.ts";

describe("the EventStoreDB driver with index lag", () => {
  let time: ManualTime;
  let lagMs: number;

  /** The index lags after the first append, which opens the client's stream of appends. */
  const withLag = async (ms: number, use: (there: EventStore) => Promise<void>, batchAppend = true) => {
    time = createManualTime();
    lagMs = 0;
    const lagging = await startEventStoreDBNode({ indexLagMs: () => lagMs, time, batchAppend });
    const there = await openEventStoreDB({ url: lagging.url, appendTimeoutMs: 15_000 });
    await there.append("first", [event()], "none");
    lagMs = ms;
    try {
      await use(there);
    } finally {
      await there.close();
      await lagging.close();
    }
  };

  for (const batchAppend of [true, false]) {
    const form = batchAppend ? "batches" : "single calls";
    it(`repeats an append of unknown outcome with the same expectation, in ${form}`, () =>
      withLag(
        200,
        async (there) => {
          const fact = event();
          const both = Promise.all([1, 2].map(() => there.append("s", [fact], "none")));
          await until("one append is not indexed and one waits", () => time.waiting() === 2);
          time.advance(2_000);
          const [first, second] = await both;
          expect(first?.revision).to.equal(0);
          expect(second).to.deep.equal(first);
          expect(ids(await read(there, "s"))).to.deep.equal([fact.id]);
        },
        batchAppend,
      ));
  }

  it("reports an unknown outcome as long as the server does not know it", () =>
    withLag(60_000, async (there) => {
      const fact = event();
      const first = there.append("s", [fact], "none");
      await until("the append is not indexed", () => time.waiting() === 1);
      const failure = rejectionOf(() => there.append("s", [fact], "none"));
      for (let responses = 0; responses < 4; responses++) {
        await until("the repeat waits", () => time.waiting() === 2);
        time.advance(2_000);
      }
      expect(await failure).to.be.instanceOf(EventStoreUnavailable);
      expect(((await failure) as Error).message).to.contain("does not know yet");
      time.advance(60_000);
      expect((await first).revision).to.equal(0);
    }));

  it("reads only indexed events, and conflicts with committed ones", () =>
    withLag(100, async (there) => {
      const append = there.append("s", [event()], "none");
      await until("the append is not indexed", () => time.waiting() === 1);
      await expectConflict(there.append("s", [event()], "none"), 0);
      expect(await read(there, "s")).to.deep.equal([]);
      expect(await readLog(there)).to.have.length(1);
      time.advance(100);
      await append;
      expect(await read(there, "s")).to.have.length(1);
    }));
});
