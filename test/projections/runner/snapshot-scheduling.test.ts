import { expect } from "chai";
import type { Projection } from "../../../projections/projection.ts";
import { createProjectionRunner } from "../../../projections/runner/runner.ts";
import { noSnapshots, type SnapshotStore } from "../../../projections/runner/snapshot-store.ts";
import type { EventBatch, EventStore, RecordedEvent } from "../../../src/eventstore/event-store.ts";

const counts: Projection<number> = {
  name: "counts",
  version: 1,
  prefixes: [],
  partition: () => "all",
  initial: () => 0,
  apply: (count) => count + 1,
};
const counted = { ...counts, prefixes: ["s-"] };

/** A store whose `save` ends when the test resolves it. */
const slowSnapshots = () => {
  const begun: PromiseWithResolvers<void>[] = [];
  let open = 0;
  let most = 0;
  const store: SnapshotStore = {
    ...noSnapshots,
    save: async () => {
      most = Math.max(most, ++open);
      const writing = Promise.withResolvers<void>();
      begun.push(writing);
      await writing.promise;
      open -= 1;
    },
  };
  return { store, begun, mostAtOnce: () => most };
};

/** A log that delivers the batches of the test. */
const drivenLog = () => {
  const batches: EventBatch[] = [];
  let wake = (): void => {};
  let position = 0;
  const store = {
    subscribe: async function* ({ signal }: { signal?: AbortSignal }) {
      signal?.addEventListener("abort", () => wake());
      while (!signal?.aborted) {
        const batch = batches.shift();
        if (batch) yield batch;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  } as unknown as EventStore;
  const eventAt = (at: number, type = "Happened"): RecordedEvent => ({
    ...{ id: `event-${at}`, type, data: {}, metadata: {} },
    ...{ stream: "s-1", revision: at, position: at, created: 0 },
  });
  return {
    store,
    deliver: (count: number, caughtUp: boolean): number => {
      const events = Array.from({ length: count }, () => eventAt(++position));
      batches.push({ events, position, caughtUp });
      wake();
      return position;
    },
    erase: (): number => {
      batches.push({ events: [eventAt(++position, "Erased")], position, caughtUp: true });
      wake();
      return position;
    },
  };
};

describe("the snapshots of a runner", () => {
  const run = () => {
    const log = drivenLog();
    const snapshots = slowSnapshots();
    const options = {
      store: log.store,
      projections: [counted],
      snapshots: snapshots.store,
      snapshotEvery: 100,
      erasures: ["Erased"],
    };
    return { log, snapshots, runner: createProjectionRunner(options) };
  };

  it("are written once, after catching up, however long the log is", async () => {
    const { log, snapshots, runner } = run();
    for (let batch = 0; batch < 500; batch++) log.deliver(1_000, batch === 499);
    await runner.start();
    expect(snapshots.begun).to.have.length(1);
    snapshots.begun[0]?.resolve();
    await runner.close();
    expect(snapshots.begun).to.have.length(1);
    expect(runner.lastKnownView(counted).get("all")).to.equal(500_000);
  });

  it("are written one at a time, and the next one after enough events since the start of the last", async () => {
    const { log, snapshots, runner } = run();
    log.deliver(100, true);
    await runner.start();
    for (let batch = 0; batch < 50; batch++) await runner.waitForPosition(log.deliver(100, true));
    expect(snapshots.begun).to.have.length(1);
    snapshots.begun[0]?.resolve();
    await new Promise(setImmediate);
    await runner.waitForPosition(log.deliver(1, true));
    expect(snapshots.begun).to.have.length(2);
    snapshots.begun[1]?.resolve();
    await new Promise(setImmediate);
    await runner.waitForPosition(log.deliver(99, true));
    expect(snapshots.begun).to.have.length(2);
    await runner.close();
    expect(snapshots.mostAtOnce()).to.equal(1);
  });

  it("are written at once after an erasure, and again after one that comes meanwhile", async () => {
    const { log, snapshots, runner } = run();
    log.deliver(1, true);
    await runner.start();
    expect(snapshots.begun).to.have.length(0);
    await runner.waitForPosition(log.erase());
    expect(snapshots.begun).to.have.length(1);
    await runner.waitForPosition(log.erase());
    expect(snapshots.begun).to.have.length(1);
    snapshots.begun[0]?.resolve();
    await new Promise(setImmediate);
    expect(snapshots.begun).to.have.length(2);
    snapshots.begun[1]?.resolve();
    await runner.close();
    expect(snapshots.begun).to.have.length(2);
  });

  it("delay closing only for the one that is being written", async () => {
    const { log, snapshots, runner } = run();
    log.deliver(100, true);
    await runner.start();
    await runner.waitForPosition(log.deliver(1_000, true));
    let closed = false;
    const closing = runner.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).to.equal(false);
    snapshots.begun[0]?.resolve();
    await closing;
    expect(snapshots.begun).to.have.length(1);
  });
});
