import { expect } from "chai";
import { sleep } from "../../../src/async/sleep.ts";
import type { EventStore, NewEvent } from "../../../src/eventstore/event-store.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import { serving } from "../../support/servings.ts";
import { createSimulatedClock, type SimulatedTime } from "../quota/simulation.ts";

interface Append {
  /** When it was sent. */
  readonly at: number;
  readonly servings: number;
}

const servingsIn = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { data }) => sum + ((data as { requestIds?: unknown[] }).requestIds?.length ?? 0), 0);

describe("the writer of a journal, when appends take long", () => {
  let time: SimulatedTime;
  let appends: Append[];
  let writer: JournalWriter;

  const createWriter = (appendMs: number): void => {
    let revision = -1;
    const append: EventStore["append"] = async (_stream, events) => {
      appends.push({ at: time.now(), servings: servingsIn(events) });
      await sleep(appendMs, { time });
      revision += events.length;
      return { revision, position: revision };
    };
    const store = { append } as EventStore;
    writer = new JournalWriter({ store, journal: "0193-a", clock: () => time.now(), time });
  };

  beforeEach(() => {
    time = createSimulatedClock();
    appends = [];
    createWriter(8);
  });

  const serve = (): Promise<string> =>
    new Promise((resolve, reject) =>
      writer.addServing(serving(), 0, (error, at) => (error ? reject(error) : resolve(at))),
    );

  /** A client that waits for each response, and for some time before its next request. */
  const request = async (count: number, pauseMs: number): Promise<void> => {
    for (let index = 0; index < count; index++) {
      await serve();
      await sleep(pauseMs, { time });
    }
  };

  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    void promise.finally(() => {
      isSettled = true;
    });
    await time.runUntil(() => isSettled);
    return promise;
  };

  it("appends the servings of all clients together when they send their next requests within the delay", async () => {
    const first = request(20, 0);
    await time.runUntil(() => appends.length === 1);
    const others = Array.from({ length: 15 }, (_, index) => request(20, index / 5));
    await settled(Promise.all([first, ...others]));
    const sizes = appends.map(({ servings }) => servings);
    expect(sizes.slice(0, 2)).to.deep.equal([1, 16]);
    expect(new Set(sizes.slice(2, -2))).to.deep.equal(new Set([16]));
  });

  it("does not delay the requests of one client", async () => {
    await settled(request(10, 1));
    expect(appends.map(({ at }) => at)).to.deep.equal(Array.from({ length: 10 }, (_, index) => index * 9));
  });

  it("appends a serving after the delay if the other clients send no further requests", async () => {
    const all = Promise.all(Array.from({ length: 16 }, serve));
    await time.runUntil(() => appends.length === 1);
    void serve();
    await settled(all);
    await time.runUntil(() => appends.length === 2);
    expect(appends).to.deep.equal([
      { at: 0, servings: 16 },
      { at: 12, servings: 1 },
    ]);
  });

  it("starts a flush at once when the delay has passed without requests", async () => {
    await settled(Promise.all(Array.from({ length: 16 }, serve)));
    await settled(sleep(4, { time }));
    await settled(serve());
    expect(appends.map(({ at }) => at)).to.deep.equal([0, 12]);
  });

  it("does not delay flushes after short appends", async () => {
    createWriter(3);
    const all = Array.from({ length: 16 }, serve);
    await time.runUntil(() => appends.length === 1);
    all.push(serve());
    await settled(Promise.all(all));
    expect(appends.map(({ at }) => at)).to.deep.equal([0, 3]);
  });

  it("does not wait for clients whose requests were refused at their deadline", async () => {
    createWriter(30_000);
    const refused = serve().catch(() => undefined);
    await settled(refused);
    writer.notePosted(0);
    await time.runUntil(() => appends.length === 2);
    expect(appends.map(({ at }) => at)).to.deep.equal([0, 30_000]);
  });

  it("closes without a delay", async () => {
    void Promise.all(Array.from({ length: 16 }, serve));
    await time.runUntil(() => appends.length === 1);
    await settled(writer.close("shutdown"));
    expect(appends.map(({ at }) => at)).to.deep.equal([0, 8]);
  });

  it("ends a delay when it is closed", async () => {
    await settled(Promise.all(Array.from({ length: 16 }, serve)));
    void serve();
    await settled(sleep(1, { time }));
    await settled(writer.close("shutdown"));
    expect(appends).to.deep.equal([
      { at: 0, servings: 16 },
      { at: 9, servings: 1 },
      { at: 17, servings: 0 },
    ]);
  });

  it("resolves flushed() during a delay", async () => {
    void Promise.all(Array.from({ length: 16 }, serve));
    await time.runUntil(() => appends.length === 1);
    await settled(writer.flushed());
    expect(time.now()).to.equal(8);
    await settled(writer.flushed());
    expect(time.now()).to.equal(8);
  });
});
