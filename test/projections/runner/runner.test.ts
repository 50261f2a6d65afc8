import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { Projection } from "../../../projections/projection.ts";
import {
  createProjectionRunner,
  type ProjectionRunner,
  type RunnerOptions,
} from "../../../projections/runner/runner.ts";
import { createSnapshotFiles } from "../../../projections/runner/snapshot-files.ts";
import { noSnapshots } from "../../../projections/runner/snapshot-store.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { duringTest } from "../../support/during.ts";
import { until } from "../../support/manual-time.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

interface Sum {
  sum: number;
  count: number;
}

const sums: Projection<Sum> = {
  name: "sums",
  version: 1,
  prefixes: ["sum-"],
  partition: ({ stream }) => stream,
  initial: () => ({ sum: 0, count: 0 }),
  apply: (state, { data }) => {
    state.sum += (data as { amount: number }).amount;
    state.count += 1;
    return state;
  },
};

const proof = { logId: "log-1", keys: [Buffer.alloc(32, 1)] } as const;

const append = async (store: EventStore, stream: string, amount: number): Promise<number> => {
  const event = { id: uuidv7(Date.now()), type: "Added", data: { amount }, metadata: {} };
  return (await store.append(stream, [event], "any")).position;
};

describe("the projection runner", () => {
  const temporary = duringTest(openTemporaryStore);
  const runners: ProjectionRunner[] = [];

  const start = async (options: Partial<RunnerOptions> = {}): Promise<ProjectionRunner> => {
    const runner = createProjectionRunner({ store: temporary.store, projections: [sums], ...options });
    runners.push(runner);
    await runner.start();
    return runner;
  };
  const stateOf = (runner: ProjectionRunner): unknown => Object.fromEntries(runner.view(sums).entries());

  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.close()));
  });

  it("includes all events that the log has at the start", async () => {
    await append(temporary.store, "sum-a", 1);
    await append(temporary.store, "sum-b", 2);
    const runner = await start();
    expect(stateOf(runner)).to.deep.equal({ "sum-a": { sum: 1, count: 1 }, "sum-b": { sum: 2, count: 1 } });
  });

  it("includes an append once its position is reached", async () => {
    const runner = await start();
    await runner.waitForPosition(await append(temporary.store, "sum-a", 5));
    expect(runner.view(sums).get("sum-a")?.sum).to.equal(5);
  });

  it("skips the stream that no view needs, and does not lag behind it", async () => {
    const runner = await start({ except: "sum-a", time: { now: () => 0 } });
    runner.noteAppended("sum-a", await append(temporary.store, "sum-a", 5));
    await runner.waitForPosition(await append(temporary.store, "sum-ab", 1));
    expect(stateOf(runner)).to.deep.equal({ "sum-ab": { sum: 1, count: 1 } });
    expect(runner.status().lagMs).to.equal(0);
  });

  it("skips events of other streams", async () => {
    const runner = await start();
    await append(temporary.store, "other-a", 5);
    await runner.waitForPosition(await append(temporary.store, "sum-a", 1));
    expect(runner.view(sums).size).to.equal(1);
  });

  it("builds the same view from a snapshot as from zero, at any position of the snapshot", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 20 }),
        fc.nat(20),
        async (all, cut) => {
          const own = await openTemporaryStore();
          try {
            const snapshots = createSnapshotFiles(join(own.folder, "snapshots"), proof);
            for (const [index, amount] of all.entries()) {
              if (index === cut)
                await (await start({ store: own.store, snapshots, snapshotEvery: 1 })).close();
              await append(own.store, `sum-${index % 3}`, amount);
            }
            const resumed = await start({ store: own.store, snapshots });
            const replayed = await start({ store: own.store });
            expect(stateOf(resumed)).to.deep.equal(stateOf(replayed));
            await resumed.close();
            await replayed.close();
          } finally {
            await own.remove();
          }
        },
      ),
      { numRuns: 10 },
    );
  });

  it("does not fold the events of a snapshot again", async () => {
    const snapshots = createSnapshotFiles(join(temporary.folder, "snapshots"), proof);
    await append(temporary.store, "sum-a", 1);
    await (await start({ snapshots, snapshotEvery: 1 })).close();
    let delivered = 0;
    const counting: Projection<Sum> = {
      ...sums,
      apply: (state, event) => {
        delivered += 1;
        return sums.apply(state, event);
      },
    };
    const runner = createProjectionRunner({ store: temporary.store, projections: [counting], snapshots });
    runners.push(runner);
    await runner.start();
    expect(delivered).to.equal(0);
    expect(runner.view(counting).get("sum-a")?.sum).to.equal(1);
  });

  it("ignores a snapshot of another version of the projection", async () => {
    const snapshots = createSnapshotFiles(join(temporary.folder, "snapshots"), proof);
    await append(temporary.store, "sum-a", 1);
    await (await start({ snapshots, snapshotEvery: 1 })).close();
    const doubled: Projection<Sum> = {
      ...sums,
      version: 2,
      apply: (state, { data }) => ({ ...state, sum: state.sum + 2 * (data as { amount: number }).amount }),
    };
    const runner = createProjectionRunner({ store: temporary.store, projections: [doubled], snapshots });
    runners.push(runner);
    await runner.start();
    expect(runner.view(doubled).get("sum-a")?.sum).to.equal(2);
  });

  it("resubscribes after an error, and folds no event twice", async () => {
    let breaks = 0;
    const fragile: EventStore = {
      ...temporary.store,
      subscribe: async function* (options) {
        for await (const batch of temporary.store.subscribe(options)) {
          yield batch;
          if (batch.events.length > 0 && breaks++ < 3) throw new EventStoreUnavailable("cut");
        }
      },
    };
    const runner = await start({ store: fragile });
    let position = -1;
    for (let i = 0; i < 10; i++) position = await append(temporary.store, "sum-a", 1);
    await runner.waitForPosition(position);
    expect(runner.view(sums).get("sum-a")).to.deep.equal({ sum: 10, count: 10 });
  });

  it("fails to start if the log is unavailable for longer than the timeout", async () => {
    await append(temporary.store, "sum-a", 1);
    let now = 0;
    const broken: EventStore = {
      ...temporary.store,
      // biome-ignore lint/correctness/useYield: a log that cannot be read
      subscribe: async function* () {
        now += 1_000;
        throw new EventStoreUnavailable("damaged");
      },
    };
    const failure = await start({ store: broken, time: { now: () => now }, startTimeoutMs: 2_000 }).catch(
      (error) => error,
    );
    expect(failure).to.be.instanceOf(EventStoreUnavailable).with.property("message", "damaged");
    expect(now).to.equal(3_000);
  });

  it("rejects a wait for a position when it is closed, and when the signal is aborted", async () => {
    const runner = await start();
    const gone = runner.waitForPosition(1e9).catch((error) => error);
    const givenUp = runner
      .waitForPosition(1e9, AbortSignal.abort(new Error("enough")))
      .catch((error) => error);
    await runner.close();
    expect(await gone).to.be.instanceOf(EventStoreUnavailable);
    expect((await givenUp).message).to.equal("enough");
  });

  it("stops only the projection whose fold throws, and refuses its view", async () => {
    const fragile: Projection<Sum> = {
      ...sums,
      name: "fragile",
      apply: (state, event) => {
        if (event.stream === "sum-bad") throw new Error("a defect");
        return sums.apply(state, event);
      },
    };
    const errors: string[] = [];
    const runner = await start({
      projections: [fragile, sums],
      onError: (what, error) => errors.push(`${what}: ${(error as Error).message}`),
    });
    const { store } = temporary;
    await append(store, "sum-a", 1);
    await append(store, "sum-bad", 1);
    await runner.waitForPosition(await append(store, "sum-a", 2));
    expect(stateOf(runner)).to.deep.equal({ "sum-a": { sum: 3, count: 2 }, "sum-bad": { sum: 1, count: 1 } });
    expect(() => runner.view(fragile).get("sum-a")).to.throw(Unavailable);
    expect(runner.lastKnownView(fragile).get("sum-a")?.sum).to.equal(1);
    expect(runner.status()).to.deep.include({ live: true, failed: ["fragile"] });
    expect(errors).to.deep.equal([
      "the view fragile has stopped: the projection fragile cannot fold Added, revision 0 of sum-bad",
    ]);
  });

  it("starts although a projection fails again, and writes no snapshot of it", async () => {
    const broken: Projection<Sum> = {
      ...sums,
      name: "broken",
      apply: () => {
        throw new Error("a defect");
      },
    };
    const snapshots = createSnapshotFiles(join(temporary.folder, "snapshots"), proof);
    await append(temporary.store, "sum-a", 1);
    for (let round = 0; round < 2; round++) {
      const runner = await start({ projections: [broken, sums], snapshots, snapshotEvery: 1 });
      expect(runner.view(sums).get("sum-a")?.sum).to.equal(1);
      await runner.close();
    }
    expect(await snapshots.load(broken)).to.equal(undefined);
  });

  describe("without a subscription", () => {
    let now = 0;
    let isCut = false;
    let cut = new AbortController();

    const startFragile = (): Promise<ProjectionRunner> => {
      const { store } = temporary;
      const fragile: EventStore = {
        ...store,
        subscribe: async function* (options) {
          if (isCut) throw new EventStoreUnavailable("cut");
          yield* store.subscribe({
            ...options,
            signal: AbortSignal.any([cut.signal, options?.signal ?? cut.signal]),
          });
          throw new EventStoreUnavailable("cut");
        },
      };
      return start({ store: fragile, time: { now: () => now }, maxLagMs: 15_000 });
    };

    beforeEach(() => {
      isCut = false;
      cut = new AbortController();
    });

    it("responds from its last states up to the maximum lag, then refuses until it has caught up", async () => {
      const runner = await startFragile();
      await runner.waitForPosition(await append(temporary.store, "sum-a", 1));
      isCut = true;
      cut.abort();
      await until(() => !runner.status().live);
      now += 15_000;
      expect(runner.view(sums).get("sum-a")?.sum).to.equal(1);
      now += 1;
      expect(() => runner.view(sums).get("sum-a")).to.throw(Unavailable);
      expect(() => runner.view(sums).entries()).to.throw(Unavailable);
      expect(runner.lastKnownView(sums).get("sum-a")?.sum).to.equal(1);
      cut = new AbortController();
      isCut = false;
      await runner.waitForPosition(await append(temporary.store, "sum-a", 1));
      expect(runner.view(sums).get("sum-a")?.sum).to.equal(2);
    });
  });

  it("refuses to respond if an own append is not delivered within the maximum lag", async () => {
    let now = 0;
    const runner = await start({ time: { now: () => now }, maxLagMs: 15_000 });
    runner.noteAppended("other-a", 1e9);
    runner.noteAppended("sum-a", 1e9);
    now = 15_000;
    expect(runner.status()).to.deep.include({ live: true, lagMs: 15_000, current: true });
    now = 15_001;
    expect(runner.status()).to.deep.include({ live: true, lagMs: 15_001, current: false });
    expect(() => runner.view(sums).get("sum-a")).to.throw(Unavailable);
  });

  it("continues if snapshots cannot be written, and reports the error", async () => {
    const errors: string[] = [];
    const snapshots = {
      ...noSnapshots,
      save: async () => {
        throw new Error("no space");
      },
    };
    await append(temporary.store, "sum-a", 1);
    const runner = await start({ snapshots, snapshotEvery: 1, onError: (what) => errors.push(what) });
    await runner.close();
    expect(errors).to.have.length(1);
  });
});
