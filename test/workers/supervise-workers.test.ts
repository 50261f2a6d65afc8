import { expect } from "chai";
import pino from "pino";
import {
  type CloseReason,
  type SupervisedWorker,
  superviseWorkers,
} from "../../src/workers/supervise-workers.ts";
import type { Exit } from "../../src/workers/worker-process.ts";
import { createManualTime, type ManualTime, until } from "../support/manual-time.ts";

const settle = () => new Promise(setImmediate);

/** A worker that does what the test says. */
class FakeWorker implements SupervisedWorker {
  readonly #serving = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<Exit>();
  readonly place: number;
  readonly closed: CloseReason[] = [];
  isRunning = true;
  isFrozen = false;

  constructor(place: number) {
    this.place = place;
    this.#serving.promise.catch(() => {});
  }

  get serving(): Promise<void> {
    return this.#serving.promise;
  }

  get exited(): Promise<Exit> {
    return this.#exited.promise;
  }

  serve(): void {
    this.#serving.resolve();
  }

  end(exit: Exit = { code: 0, signal: null }): void {
    this.isRunning = false;
    this.#serving.reject(new Error("ended"));
    this.#exited.resolve(exit);
  }

  ping(): Promise<void> {
    return this.isFrozen ? new Promise(() => {}) : Promise.resolve();
  }

  close(reason: CloseReason): void {
    this.closed.push(reason);
  }

  kill(): void {
    this.end({ code: null, signal: "SIGKILL" });
  }
}

describe("the supervisor of workers", () => {
  let time: ManualTime;
  let started: FakeWorker[];
  let supervisor: ReturnType<typeof superviseWorkers>;

  const options = {
    count: 2,
    start: (place: number): SupervisedWorker => {
      const worker = new FakeWorker(place);
      started.push(worker);
      return worker;
    },
    closeTimeoutMs: () => 40_000,
    log: pino({ level: "silent" }),
  };
  const running = () => started.filter(({ isRunning }) => isRunning);
  const latest = () => started.at(-1) as FakeWorker;
  const serveLatest = async (): Promise<FakeWorker> => {
    latest().serve();
    await settle();
    return latest();
  };
  /**
   * Advances the time in steps, so that a timer that fires can start timers that fire in a later
   * step.
   */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      time.advance(1_000);
      await settle();
    }
  };
  const nextStart = async (): Promise<FakeWorker> => {
    const before = started.length;
    await settle();
    time.advance(0);
    await until(() => started.length > before);
    return latest();
  };

  beforeEach(async () => {
    time = createManualTime();
    started = [];
    supervisor = superviseWorkers({ ...options, time });
    const starting = supervisor.start();
    await serveLatest();
    await serveLatest();
    expect(await starting).to.equal(true);
  });

  it("starts the first worker alone, then the others", () => {
    expect(started.map(({ place }) => place)).to.deep.equal([1, 2]);
  });

  it("replaces a worker that has ended, with longer and longer pauses while it ends early", async () => {
    const starts: number[] = [];
    started[1]?.end();
    for (let times = 0; times < 5; times++) {
      const before = started.length;
      while (started.length === before) {
        await settle();
        time.advance(0);
        await settle();
        if (started.length === before) time.advance(100);
      }
      starts.push(time.now());
      latest().end({ code: null, signal: null, error: new Error("spawn EAGAIN") });
      await settle();
    }
    const pauses = starts.map((at, index) => at - (starts[index - 1] ?? 0));
    expect(pauses).to.deep.equal([0, 100, 1_000, 5_000, 30_000]);
    expect(latest().place).to.equal(2);
  });

  it("ends the workers that serve and those that are starting when it is closed during its start", async () => {
    started = [];
    const another = superviseWorkers({ ...options, time });
    const starting = another.start();
    await serveLatest();
    const closed = another.close();
    expect(started.map((worker) => worker.closed)).to.deep.equal([["shutdown"], ["shutdown"]]);
    for (const worker of started) worker.end();
    expect(await closed).to.have.length(2);
    expect(await starting).to.equal(false);
  });

  it("ends at once while it waits before a further start", async () => {
    started[1]?.end();
    (await nextStart()).end();
    await settle();
    const closed = supervisor.close();
    started[0]?.end();
    expect(await closed).to.deep.equal([{ code: 0, signal: null }]);
    await pass(60_000);
    expect(running()).to.deep.equal([]);
    expect(started).to.have.length(3);
    expect(time.waiting(), "timers").to.equal(0);
  });

  it("restarts the workers one after the other, each new one serving before the old one closes", async () => {
    const [first, second] = started;
    const restarted = supervisor.restart();
    await settle();
    expect(latest().place).to.equal(1);
    expect(first?.closed).to.deep.equal([]);
    await serveLatest();
    expect(first?.closed).to.deep.equal(["restart"]);
    expect(started).to.have.length(3);
    first?.end();
    await settle();
    await serveLatest();
    expect(second?.closed).to.deep.equal(["restart"]);
    second?.end();
    await restarted;
    expect(running().map(({ place }) => place)).to.deep.equal([1, 2]);
  });

  it("closes every worker once, also one that is starting, when it is closed during a restart", async () => {
    void supervisor.restart();
    await settle();
    await serveLatest();
    started[0]?.end();
    await settle();
    expect(running()).to.have.length(3);
    const closed = supervisor.close();
    expect(running().map((worker) => worker.closed)).to.deep.equal(Array(3).fill(["shutdown"]));
    for (const worker of running()) worker.end();
    expect(await closed).to.deep.equal(Array(3).fill({ code: 0, signal: null }));
    await pass(60_000);
    expect(started).to.have.length(4);
  });

  it("does not close a worker again that a restart is closing when the service is shut down", async () => {
    void supervisor.restart();
    await settle();
    await serveLatest();
    const closed = supervisor.close();
    expect(started[0]?.closed).to.deep.equal(["restart"]);
    for (const worker of running()) worker.end();
    expect(await closed).to.have.length(3);
  });

  it("starts one worker at a time in a place whose worker dies during a restart", async () => {
    const restarted = supervisor.restart();
    await settle();
    started[0]?.end({ code: null, signal: "SIGKILL" });
    await pass(5_000);
    expect(started.map(({ place }) => place)).to.deep.equal([1, 2, 1]);
    await serveLatest();
    const next = latest();
    expect(next.place).to.equal(2);
    await serveLatest();
    started[1]?.end();
    await restarted;
    await pass(5_000);
    expect(running().map(({ place }) => place)).to.deep.equal([1, 2]);
  });

  it("continues with the earlier workers if a new one cannot be started", async () => {
    const restarted = supervisor.restart();
    await settle();
    latest().end({ code: 1, signal: null });
    await restarted;
    await pass(60_000);
    expect(started).to.have.length(3);
    expect(running().map(({ closed }) => closed)).to.deep.equal([[], []]);
  });

  it("replaces a worker that dies while the one that should take its place cannot be started", async () => {
    const restarted = supervisor.restart();
    await settle();
    const next = latest();
    started[0]?.end();
    await settle();
    next.end({ code: 1, signal: null });
    await restarted;
    await pass(5_000);
    await serveLatest();
    expect(running().map(({ place }) => place)).to.deep.equal([2, 1]);
  });

  it("kills a worker that does not begin to serve, and starts another one", async () => {
    started[1]?.end();
    const hanging = await nextStart();
    await pass(599_000);
    expect(hanging.isRunning).to.equal(true);
    await pass(2_000);
    expect(hanging.isRunning).to.equal(false);
    expect(running().map(({ place }) => place)).to.deep.equal([1, 2]);
  });

  it("kills a worker that does not end in time", async () => {
    const closed = supervisor.close();
    started[0]?.end();
    await pass(39_000);
    expect(running()).to.have.length(1);
    await pass(1_000);
    expect(await closed).to.deep.include({ code: null, signal: "SIGKILL" });
  });

  it("kills and replaces a worker that does not respond for a minute while another one does", async () => {
    const [first, second] = started as [FakeWorker, FakeWorker];
    first.isFrozen = true;
    await pass(69_000);
    expect(first.isRunning).to.equal(true);
    await pass(2_000);
    expect(first.isRunning).to.equal(false);
    expect(second.isRunning).to.equal(true);
    expect((await serveLatest()).place).to.equal(1);
    await pass(600_000);
    expect(started).to.have.length(3);
  });

  it("kills no worker while none responds, however long that lasts", async () => {
    for (const worker of started) worker.isFrozen = true;
    await pass(600_000);
    expect(running()).to.have.length(2);
  });

  it("kills no worker that responds late", async () => {
    const [first] = started as [FakeWorker];
    const response = Promise.withResolvers<void>();
    first.ping = () => response.promise;
    await pass(65_000);
    first.ping = () => Promise.resolve();
    response.resolve();
    await pass(600_000);
    expect(started).to.have.length(2);
  });
});
