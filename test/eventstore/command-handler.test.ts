import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { Unavailable } from "../../src/domain/errors.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { startFixture } from "../support/child-process.ts";
import { duringSuite } from "../support/during.ts";
import { createManualTime, type ManualTime, until } from "../support/manual-time.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";
import { add, type CounterEvent, counter, LimitExceeded } from "./bounded-counter.ts";

type Fault = "none" | "before" | "after";

/** A store whose appends fail in turn: before anything is stored, or after. */
const faulty = (store: EventStore, faults: readonly Fault[]): EventStore => {
  let next = 0;
  return {
    ...store,
    append: async (...append) => {
      const fault = faults[next++ % Math.max(1, faults.length)] ?? "none";
      if (fault === "before") throw new EventStoreUnavailable("cut before");
      const result = await store.append(...append);
      if (fault === "after") throw new EventStoreUnavailable("cut after");
      return result;
    },
  };
};

const countAppends = (store: EventStore) => {
  let appends = 0;
  const append: EventStore["append"] = (...args) => {
    appends += 1;
    return store.append(...args);
  };
  return { store: { ...store, append }, appends: () => appends };
};

const logOf = async (store: EventStore, stream: string): Promise<CounterEvent["data"][]> => {
  const log: CounterEvent["data"][] = [];
  for await (const { data } of store.readStream(stream)) log.push(data as CounterEvent["data"]);
  return log;
};

describe("the command handler", () => {
  const temporary = duringSuite(openTemporaryStore);
  let streams = 0;
  const freshStream = (): string => `counter-${++streams}`;

  it("produces the state of a serial order, without lost or repeated commands, for any interleaving and failures", async () => {
    const commands = fc.array(fc.record({ handler: fc.nat(2), amount: fc.integer({ min: 1, max: 20 }) }), {
      minLength: 1,
      maxLength: 40,
    });
    // One append in three succeeds, so that no outage is endless.
    const faults = fc
      .array(fc.constantFrom<Fault>("none", "before", "after"), { maxLength: 9 })
      .map((some): Fault[] => [...some, "none", "none"]);
    await fc.assert(
      fc.asyncProperty(commands, fc.array(faults, { minLength: 3, maxLength: 3 }), async (all, plans) => {
        const stream = freshStream();
        const limit = 100;
        const handlers = plans.map((plan) => createCommandHandler({ store: faulty(temporary.store, plan) }));
        const outcomes = await Promise.allSettled(
          all.map(async ({ handler, amount }, id) => {
            if (id % 3 === 0) await Promise.resolve();
            const one = handlers[handler];
            return one?.execute(counter, stream, add(id, amount, limit), {});
          }),
        );
        const log = await logOf(temporary.store, stream);
        const total = log.reduce((sum, { amount }) => sum + amount, 0);
        const fulfilled = outcomes.flatMap(({ status }, id) => (status === "fulfilled" ? [id] : []));
        expect(log.map(({ id }) => id).sort((a, b) => a - b)).to.deep.equal(fulfilled);
        expect(total).to.be.at.most(limit);
        for (const [id, outcome] of outcomes.entries()) {
          if (outcome.status === "rejected") {
            expect(outcome.reason).to.be.instanceOf(LimitExceeded);
            expect(total + (all[id]?.amount ?? 0)).to.be.above(limit);
            continue;
          }
          const upTo = log.slice(0, log.findIndex((entry) => entry.id === id) + 1);
          expect(outcome.value?.state.sum).to.equal(upTo.reduce((sum, { amount }) => sum + amount, 0));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("appends concurrent commands as one batch", async () => {
    const stream = freshStream();
    const { store, appends } = countAppends(temporary.store);
    const handler = createCommandHandler({ store });
    await Promise.all(
      Array.from({ length: 50 }, (_, id) => handler.execute(counter, stream, add(id, 1, 50), {})),
    );
    expect(await logOf(store, stream)).to.have.length(50);
    expect(appends()).to.equal(1);
  });

  it("appends to several streams before the turn of the event loop ends", async () => {
    const { store, appends } = countAppends(temporary.store);
    const handler = createCommandHandler({ store });
    const known = Array.from({ length: 8 }, freshStream);
    const addToAll = (id: number) =>
      Promise.all(known.map((stream) => handler.execute(counter, stream, add(id, 1, 50), {})));
    await addToAll(0); // from now on their states are in memory
    const added = addToAll(1);
    await Promise.resolve(); // still the same turn
    expect(appends()).to.equal(16);
    await added;
  });

  it("decides again on the events of another handler", async () => {
    const stream = freshStream();
    const mine = createCommandHandler({ store: temporary.store });
    const other = createCommandHandler({ store: temporary.store });
    await mine.execute(counter, stream, add(1, 60, 100), {});
    await other.execute(counter, stream, add(2, 30, 100), {});
    const refused = await mine.execute(counter, stream, add(3, 20, 100), {}).catch((error) => error);
    expect(refused).to.be.instanceOf(LimitExceeded);
  });

  it("refuses only on the state in the log, not on its state in memory", async () => {
    const stream = freshStream();
    const mine = createCommandHandler({ store: temporary.store });
    const other = createCommandHandler({ store: temporary.store });
    await mine.execute(counter, stream, add(1, 100, 100), {});
    await other.execute(counter, stream, () => [{ type: "Added", data: { id: 2, amount: -50 } }], {});
    const { state } = await mine.execute(counter, stream, add(3, 20, 100), {});
    expect(state.sum).to.equal(70);
  });

  it("refuses after one read on a stream to which another instance keeps appending", async () => {
    const stream = freshStream();
    const { store } = temporary;
    const other = createCommandHandler({ store });
    await other.execute(counter, stream, add(1, 100, 100), {});
    let reads = 0;
    const busy: EventStore = {
      ...store,
      async *readStream(...read) {
        yield* store.readStream(...read);
        reads += 1;
        await other.execute(counter, stream, () => [{ type: "Added", data: { id: -reads, amount: 1 } }], {});
      },
    };
    const mine = createCommandHandler({ store: busy, time: createManualTime() });
    for (const expected of [1, 2]) {
      const refused = await mine.execute(counter, stream, add(2, 20, 100), {}).catch((error) => error);
      expect(refused).to.be.instanceOf(LimitExceeded);
      expect(reads).to.equal(expected);
    }
  });

  it("keeps no event of a command whose decision cannot be folded", async () => {
    const stream = freshStream();
    const handler = createCommandHandler({ store: temporary.store });
    const unfoldable = () => [...add(1, 5, 100)({ sum: 0 }), { type: "Added" } as CounterEvent];
    const refused = handler.execute(counter, stream, unfoldable, {}).catch((error) => error);
    const { state } = await handler.execute(counter, stream, add(2, 7, 100), {});
    expect(await refused).to.be.instanceOf(TypeError);
    expect(state.sum).to.equal(7);
    expect(await logOf(temporary.store, stream)).to.deep.equal([{ id: 2, amount: 7 }]);
  });

  it("appends nothing for a decision without events, and returns the state", async () => {
    const stream = freshStream();
    const handler = createCommandHandler({ store: temporary.store });
    const { position } = await handler.execute(counter, stream, add(1, 5, 100), {});
    const nothing = await handler.execute(counter, stream, () => [], {});
    expect(nothing).to.deep.equal({ events: [], state: { sum: 5 }, position });
  });

  it("writes the command's metadata on every event", async () => {
    const stream = freshStream();
    const handler = createCommandHandler({ store: temporary.store });
    await handler.execute(counter, stream, add(1, 5, 100), { correlationId: "request-1", actor: "cli" });
    for await (const { metadata } of temporary.store.readStream(stream)) {
      expect(metadata).to.deep.equal({ correlationId: "request-1", actor: "cli" });
    }
  });

  it("refuses a command at its deadline while the store is down, and serves the next when it is up", async () => {
    const stream = freshStream();
    const time = createManualTime();
    const deadlineMs = 50;
    let down = true;
    let refusedAppends = 0;
    const broken: EventStore = {
      ...temporary.store,
      append: async (...append) => {
        if (!down) return await temporary.store.append(...append);
        refusedAppends += 1;
        throw new EventStoreUnavailable("down");
      },
    };
    const handler = createCommandHandler({ store: broken, deadlineMs, time });
    const refused = handler.execute(counter, stream, add(1, 5, 100), {}).catch((error) => error);
    await until(() => refusedAppends > 0);
    time.advance(deadlineMs);
    expect(await refused).to.be.instanceOf(Unavailable);
    down = false;
    let sum: number | undefined;
    void handler.execute(counter, stream, add(2, 5, 100), {}).then(({ state }) => {
      sum = state.sum;
    });
    await until(() => {
      const isBackingOff = time.waiting() > 1; // In addition to the deadline timer.
      if (isBackingOff) time.advance(1);
      return sum !== undefined;
    });
    expect(sum).to.equal(5);
  });

  describe("when the store does not respond", () => {
    const deadlineMs = 250;
    let time: ManualTime;
    beforeEach(() => {
      time = createManualTime();
    });
    /** A store whose appends are completed only at `releaseAll`; they are stored before or then. */
    const hangingStore = (store: EventStore, lands: "before" | "after") => {
      const release = Promise.withResolvers<void>();
      const landed: Promise<unknown>[] = [];
      const landing: Promise<unknown>[] = [];
      let hangs = true;
      const hung: EventStore = {
        ...store,
        append: (...append) => {
          if (!hangs) return store.append(...append);
          const now = lands === "before" ? store.append(...append) : undefined;
          landing.push(Promise.resolve(now));
          const late = release.promise.then(() => now ?? store.append(...append));
          landed.push(late.catch(() => {}));
          return late;
        },
      };
      return {
        store: hung,
        /** Resolves when an append waits for `releaseAll`. */
        untilHanging: async () => {
          await until(() => landing.length > 0);
          await Promise.all(landing);
        },
        recover: () => {
          hangs = false;
        },
        releaseAll: async () => {
          hangs = false;
          release.resolve();
          await Promise.all(landed);
        },
      };
    };
    const refusal = async (outcome: Promise<unknown>): Promise<unknown> => outcome.catch((error) => error);

    it("rejects each command at its own deadline, including those that wait for another", async () => {
      const stream = freshStream();
      const { store, untilHanging, releaseAll } = hangingStore(temporary.store, "after");
      const handler = createCommandHandler({ store, deadlineMs, time });
      const order: number[] = [];
      const put = async (id: number): Promise<void> => {
        expect(await refusal(handler.execute(counter, stream, add(id, 1, 100), {}))).to.be.instanceOf(
          Unavailable,
        );
        order.push(id);
      };
      const first = put(1);
      await untilHanging();
      time.advance(deadlineMs / 2);
      const others = [put(2), put(3)];
      time.advance(deadlineMs / 2);
      await first;
      expect(handler.pending).to.equal(2);
      time.advance(deadlineMs / 2);
      await Promise.all(others);
      expect(order).to.deep.equal([1, 2, 3]);
      expect(handler.pending).to.equal(0);
      await handler.drain();
      await releaseAll();
    });

    it("includes an append whose response was lost in the next decision", async () => {
      const stream = freshStream();
      const { store, untilHanging, recover, releaseAll } = hangingStore(temporary.store, "before");
      const handler = createCommandHandler({ store, deadlineMs, time });
      const losing = refusal(handler.execute(counter, stream, add(1, 60, 100), {}));
      await untilHanging();
      time.advance(deadlineMs);
      const lost = await losing;
      expect(lost).to.be.instanceOf(Unavailable);
      recover();
      expect(await refusal(handler.execute(counter, stream, add(2, 60, 100), {}))).to.be.instanceOf(
        LimitExceeded,
      );
      const { state } = await handler.execute(counter, stream, add(3, 40, 100), {});
      expect(state.sum).to.equal(100);
      await releaseAll();
    });

    it("prevents a late append after later decisions", async () => {
      const stream = freshStream();
      const { store, untilHanging, recover, releaseAll } = hangingStore(temporary.store, "after");
      const handler = createCommandHandler({ store, deadlineMs, time });
      const losing = refusal(handler.execute(counter, stream, add(1, 60, 100), {}));
      await untilHanging();
      time.advance(deadlineMs);
      expect(await losing).to.be.instanceOf(Unavailable);
      recover();
      await handler.execute(counter, stream, add(2, 60, 100), {});
      await releaseAll();
      expect(await logOf(temporary.store, stream)).to.deep.equal([{ id: 2, amount: 60 }]);
      expect(await refusal(handler.execute(counter, stream, add(3, 60, 100), {}))).to.be.instanceOf(
        LimitExceeded,
      );
    });

    it("rejects a command whose read does not end, and folds no event twice", async () => {
      const stream = freshStream();
      await createCommandHandler({ store: temporary.store }).execute(counter, stream, add(1, 60, 100), {});
      const release = Promise.withResolvers<void>();
      let hangs = true;
      let reads = 0;
      const store: EventStore = {
        ...temporary.store,
        readStream: async function* (...read) {
          reads += 1;
          if (hangs) await release.promise;
          yield* temporary.store.readStream(...read);
        },
      };
      const handler = createCommandHandler({ store, deadlineMs, time });
      const losing = refusal(handler.execute(counter, stream, add(2, 1, 100), {}));
      await until(() => reads > 0);
      time.advance(deadlineMs);
      expect(await losing).to.be.instanceOf(Unavailable);
      hangs = false;
      release.resolve();
      const { state } = await handler.execute(counter, stream, add(3, 40, 100), {});
      expect(state.sum).to.equal(100);
    });

    it("rejects commands while another process holds the lock, and succeeds afterwards", async () => {
      const stream = freshStream();
      const holder = startFixture("hold-lock", join(temporary.folder, "events.db"));
      await once(holder.lines, "line");
      const handler = createCommandHandler({ store: temporary.store, deadlineMs: 1_000 });
      const refused = await Promise.all(
        [1, 2, 3].map((id) => refusal(handler.execute(counter, stream, add(id, 30, 100), {}))),
      );
      for (const error of refused) {
        expect(error).to.be.instanceOf(Unavailable).with.property("retryAfterSeconds").that.is.above(0);
      }
      expect(await logOf(temporary.store, stream)).to.deep.equal([]);
      holder.process.stdin.end();
      await holder.ended;
      const { state } = await handler.execute(counter, stream, add(4, 10, 100), {});
      const log = await logOf(temporary.store, stream);
      expect(log.at(-1)?.id).to.equal(4);
      expect(state.sum).to.equal(log.reduce((sum, { amount }) => sum + amount, 0));
    });
  });

  it("refuses commands above `maxPending`", async () => {
    const stream = freshStream();
    const handler = createCommandHandler({ store: temporary.store, maxPending: 10 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 15 }, (_, id) => handler.execute(counter, stream, add(id, 1, 100), {})),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(10);
    await handler.drain();
    expect(handler.pending).to.equal(0);
  });

  it("stays correct with fewer warm streams than streams in use", async () => {
    const handler = createCommandHandler({ store: temporary.store, warmStreams: 1 });
    const pair = [freshStream(), freshStream()];
    await Promise.all(
      Array.from({ length: 40 }, (_, id) =>
        handler.execute(counter, pair[id % 2] ?? "", add(id, 1, 100), {}),
      ),
    );
    for (const stream of pair) expect(await logOf(temporary.store, stream)).to.have.length(20);
  });
});
