import { expect } from "chai";
import { Unavailable } from "../../src/domain/errors.ts";
import { type CommandHandler, createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { type EventLog, openEventLog } from "../support/eventstoredb-node/event-log.ts";
import { logStore } from "../support/eventstoredb-node/log-store.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { add, type CounterEvent, counter } from "./bounded-counter.ts";

const deadlineMs = 5_000;
const stream = "counter-1";

describe("the command handler after a conflict", () => {
  let time: ManualTime;
  let lagMs: number;
  let log: EventLog;
  let calls: { reads: number; appends: number };

  beforeEach(() => {
    time = createManualTime();
    lagMs = 0;
    log = openEventLog({ time, indexLagMs: () => lagMs });
    calls = { reads: 0, appends: 0 };
  });

  /** A handler on the current log, which counts its calls. */
  const instance = (random = Math.random): CommandHandler => {
    const store = {
      append: (...append) => {
        calls.appends += 1;
        return logStore(log).append(...append);
      },
      readStream: (...read) => {
        calls.reads += 1;
        return logStore(log).readStream(...read);
      },
    } satisfies Partial<EventStore>;
    return createCommandHandler({ store: store as unknown as EventStore, time, deadlineMs, random });
  };

  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed++) {
      time.advance(1);
      await new Promise(setImmediate);
    }
  };

  /** Advances the clock until the promise settles. */
  const inTime = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    while (!isSettled) await pass(1);
    return promise;
  };

  it("does not decide again before it can read the conflicting event", async () => {
    const [mine, other] = [instance(), instance()];
    await mine.execute(counter, stream, add(1, 60, 100), {});
    lagMs = 1_000;
    const others = other.execute(counter, stream, add(2, 30, 100), {});
    await pass(1);
    const seen: number[] = [];
    const decide = ({ sum }: { sum: number }): CounterEvent[] => {
      seen.push(sum);
      return [{ type: "Added", data: { id: 3, amount: 10 } }];
    };
    const added = mine.execute(counter, stream, decide, {});
    await pass(1);
    const { reads, appends } = calls;
    await pass(990);
    expect(calls.appends, "appends while the cause cannot be read").to.equal(appends);
    expect(calls.reads - reads, "reads in a second").to.be.within(5, 15);
    expect((await inTime(added)).state.sum).to.equal(100);
    expect(seen).to.deep.equal([60, 90]);
    await others;
  });

  it("rejects a command at its deadline if the conflicting event cannot be read", async () => {
    lagMs = 60_000;
    void instance()
      .execute(counter, stream, add(1, 1, 100), {})
      .catch(() => {});
    await pass(1);
    const handler = instance();
    const refused = handler.execute(counter, stream, add(2, 1, 100), {}).catch((error) => error);
    expect(await inTime(refused)).to.be.instanceOf(Unavailable);
    expect(time.now()).to.be.within(deadlineMs, deadlineMs + 10);
    expect(calls.appends).to.equal(2);
  });

  it("waits a random time after a conflict, even if it can read the conflicting event at once", async () => {
    const waits: number[] = [];
    for (const random of [0, 0.5, 1]) {
      log = openEventLog({ time });
      const [mine, other] = [instance(() => random), instance()];
      await mine.execute(counter, stream, add(1, 1, 100), {});
      await other.execute(counter, stream, add(2, 1, 100), {});
      const before = time.now();
      expect((await inTime(mine.execute(counter, stream, add(3, 1, 100), {}))).state.sum).to.equal(3);
      waits.push(time.now() - before);
    }
    expect(waits).to.deep.equal(waits.toSorted((a, b) => a - b));
    expect(new Set(waits)).to.have.property("size", 3);
  });

  it("reads a stream from its beginning after the log has lost events", async () => {
    const mine = instance();
    await mine.execute(counter, stream, add(1, 60, 100), {});
    await mine.execute(counter, stream, add(2, 30, 100), {});
    log = openEventLog({ time });
    await instance().execute(counter, stream, add(1, 60, 100), {});
    const { state } = await inTime(mine.execute(counter, stream, add(3, 10, 100), {}));
    expect(state.sum).to.equal(70);
  });

  it("lets an instance with few commands append while another one's queue is never empty", async () => {
    lagMs = 10;
    const [busy, idle] = [instance(), instance()];
    let id = 0;
    let isOver = false;
    const load: Promise<unknown>[] = [];
    const everyMillisecond = (): void => {
      if (isOver) return;
      load.push(busy.execute(counter, stream, add(++id, 1, 1e9), {}));
      time.after(1, everyMillisecond);
    };
    everyMillisecond();
    for (let command = 0; command < 10; command++) {
      await inTime(idle.execute(counter, stream, add(++id, 1, 1e9), {}));
    }
    isOver = true;
    await inTime(Promise.all(load));
    expect(log.lastRevision(stream)).to.equal(id - 1);
  });
});
