import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { Release } from "../../src/limits/limit.ts";
import { seededRandom } from "../support/eventstoredb-node/index-lag.ts";
import { createDividedService, type DividedWorker } from "./divided-service.ts";

const firstSeed = Number(process.env.TEST_SEED ?? 1);
const seeds = Array.from({ length: 20 }, (_, index) => firstSeed + index);
const stepsPerSeed = 400;

/**
 * How long a worker may refuse after the limit was used up: the longest pause, and the time of the
 * message that reports it.
 */
const longestPauseMs = 320 + 20;

interface Held {
  readonly worker: DividedWorker;
  readonly release: Release;
}

/**
 * A service in which requests, releases, starts and ends of workers come in random order, and
 * messages take a random time.
 */
class RandomService {
  readonly atMost: number;
  readonly #random: () => number;
  readonly #service: ReturnType<typeof createDividedService>;
  readonly #workers: DividedWorker[] = [];
  readonly #attempts = new Set<Promise<void>>();
  #held: Held[] = [];
  /** The times at which units became free. */
  readonly #releases: number[] = [];
  #isTimely: boolean;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.atMost = 1 + this.#pick(12);
    this.#isTimely = this.#random() < 0.5;
    this.#service = createDividedService({ atMost: this.atMost, delayMs: () => this.#delayMs() });
    for (let count = 0; count < 3; count++) this.#workers.push(this.#service.join());
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /**
   * Returns the time that a message takes. Now and then it exceeds the timeout of a recall, unless
   * all workers should respond in time.
   */
  #delayMs(): number {
    return !this.#isTimely && this.#random() < 0.02 ? this.#pick(20_000) : this.#pick(4);
  }

  get held(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.held(), 0);
  }

  attempt(worker = this.#workers[this.#pick(this.#workers.length)] as DividedWorker): void {
    const isTimely = this.#isTimely;
    const rememberedFrom = this.#service.time.now() - longestPauseMs;
    const attempt = worker.acquire().then(
      (release) => {
        this.#held.push({ worker, release });
        expect(this.held, "in use").to.be.at.most(this.atMost);
      },
      () => {
        const released = this.#releases.filter((at) => at >= rememberedFrom).length;
        if (isTimely) expect(this.held + released, "used when one was refused").to.be.at.least(this.atMost);
      },
    );
    this.#attempts.add(attempt);
    const forget = (): void => void this.#attempts.delete(attempt);
    attempt.then(forget, () => {}); // a failed one stays, and fails the test
  }

  #release(): void {
    const [one] = this.#held.splice(this.#pick(this.#held.length), 1);
    one?.release();
    if (one) this.#releases.push(this.#service.time.now());
  }

  /** A restart starts the next worker before the previous one ends. */
  async #replace(): Promise<void> {
    const isRestart = this.#random() < 0.5;
    if (isRestart) this.#workers.push(this.#service.join());
    await this.#elapse(this.#pick(10));
    const [ended] = this.#workers.splice(this.#pick(3), 1);
    // The ended worker may have had any number of units, some of which were on their way.
    for (let count = 0; count < this.atMost; count++) this.#releases.push(this.#service.time.now());
    this.#held = this.#held.filter(({ worker }) => worker !== ended);
    ended?.end();
    this.#attempts.clear(); // some waited in a process that has ended
    await this.#elapse(this.#pick(10));
    if (!isRestart) this.#workers.push(this.#service.join());
  }

  async #elapse(ms: number): Promise<void> {
    for (let elapsed = 0; elapsed < ms; elapsed++) {
      this.#service.time.advance(1);
      await setImmediate();
    }
  }

  async step(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.5) this.attempt();
    else if (kind < 0.75) this.#release();
    else if (kind < 0.77) await this.#replace();
    else if (kind < 0.79) {
      await this.#elapse(200); // otherwise recalls would time out
      this.#service.time.advance(60_000);
      void this.#service.division.forgetIdle();
    } else await this.#elapse(this.#pick(8));
    await setImmediate();
  }

  /** Lets all messages arrive, and all refusals be forgotten. */
  async settle(): Promise<void> {
    this.#isTimely = true;
    for (let seconds = 0; seconds < 30; seconds++) {
      this.#service.time.advance(1_000);
      await this.#elapse(10);
    }
    await this.#service.settle([...this.#attempts]);
  }

  async releaseAll(): Promise<void> {
    while (this.#held.length > 0) this.#release();
    await this.settle();
  }

  async fill(worker?: DividedWorker): Promise<void> {
    for (let count = 0; count < 2 * this.atMost; count++) this.attempt(worker);
    for (const result of await this.#service.settle([...this.#attempts]))
      if (result.status === "rejected") throw result.reason;
  }

  get anyWorker(): DividedWorker {
    return this.#workers[this.#pick(this.#workers.length)] as DividedWorker;
  }
}

describe("limits that workers hold together, in random order", () => {
  for (const seed of seeds) {
    it(`are never exceeded, and granted entirely (TEST_SEED=${seed})`, async () => {
      const service = new RandomService(seed);
      for (let step = 0; step < stepsPerSeed; step++) {
        await service.step();
        expect(service.held, `step ${step}`).to.be.at.most(service.atMost);
      }
      await service.settle();
      await service.fill();
      expect(service.held, "if all workers want more").to.equal(service.atMost);
      await service.releaseAll();
      await service.fill(service.anyWorker);
      expect(service.held, "if one worker wants all").to.equal(service.atMost);
    });

    it(`are granted entirely in each window of time (TEST_SEED=${seed})`, async () => {
      const random = seededRandom(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      const atMost = 1 + pick(40);
      const windowMs = 1_000;
      const { join, time, settle } = createDividedService({ atMost, windowMs, delayMs: () => pick(4) });
      const workers = [join(), join(), join()];
      for (let window = 1; window <= 20; window++) {
        time.advance(window * windowMs - time.now());
        const busy = 1 + pick(3); // workers that get requests in this window
        const attempts = Array.from({ length: atMost + pick(40) }, () =>
          (workers[pick(busy)] as DividedWorker).acquire(),
        );
        const results = await settle(attempts);
        expect(time.now(), "a window that is long enough").to.be.below((window + 1) * windowMs);
        const admitted = results.filter(({ status }) => status === "fulfilled").length;
        expect(admitted, `window ${window}`).to.equal(atMost);
      }
    });
  }
});
