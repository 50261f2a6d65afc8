import { expect } from "chai";
import fc from "fast-check";
import type { QuotaExceeded } from "../../../src/domain/ledger/quota/quota.ts";
import { testSeed } from "../../support/sample.ts";
import { type Entry, QuotaInstance, spentIn, type Work } from "./quota-instance.ts";
import { SimulatedLog, SimulatedProcess } from "./simulation.ts";

const apiKey = "vlk_1";
const month = "2026-11";
const instances = 3;
/** Every live instance responds within this time after the last fault. */
const respondWithinMs = 120_000;

interface Fault {
  readonly at: number;
  readonly instance: number;
  readonly kind: "freeze" | "cut" | "kill";
  readonly ms: number;
}

interface Schedule {
  readonly seed: number;
  readonly loss: number;
  readonly maxLagMs: number;
  readonly deadlineMs: number;
  readonly quota: number;
  readonly requests: readonly { at: number; instance: number; characters: number; work?: Work }[];
  readonly faults: readonly Fault[];
  readonly voids: readonly number[];
}

const instance = fc.nat(instances - 1);
const request = fc.record({ at: fc.nat(4_000), instance, characters: fc.integer({ min: 1, max: 60 }) });
const requests = fc.array(request, { minLength: 5, maxLength: 60, size: "max" });
const network = {
  seed: fc.nat(),
  loss: fc.constantFrom(0, 0.05, 0.3),
  maxLagMs: fc.constantFrom(0, 50, 300),
  deadlineMs: fc.constantFrom(150, 5_000),
  quota: fc.integer({ min: 50, max: 1_500 }),
  requests,
};
const fault = fc.record({
  at: fc.nat(4_000),
  instance,
  kind: fc.constantFrom("freeze" as const, "cut" as const, "kill" as const),
  ms: fc.nat(8_000),
});

/** A journal is closed while the serving of its last held characters is appended. */
const heldAndClosed: Schedule = {
  ...{ seed: 814763763, loss: 0.3, maxLagMs: 0, deadlineMs: 150, quota: 53, voids: [] },
  requests: [
    { at: 1306, instance: 2, characters: 1 },
    { at: 87, instance: 2, characters: 53, work: { ms: 2074, fails: false } },
    { at: 68, instance: 0, characters: 1 },
    { at: 68, instance: 0, characters: 1 },
    { at: 68, instance: 0, characters: 1 },
    { at: 144, instance: 1, characters: 1 },
    { at: 68, instance: 0, characters: 1, work: { ms: 0, fails: false } },
  ],
  faults: [{ at: 154, instance: 0, kind: "freeze", ms: 64 }],
};

/** Runs a schedule and checks what must always hold. */
class Run {
  readonly #schedule: Schedule;
  readonly simulated: SimulatedLog;
  readonly processes: SimulatedProcess[];
  readonly instances: QuotaInstance[];
  readonly #served: { characters: number; instance: number }[] = [];
  readonly problems: string[] = [];
  #voided = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.simulated = new SimulatedLog(schedule);
    this.processes = Array.from({ length: instances }, () => new SimulatedProcess(this.simulated));
    this.instances = this.processes.map(
      ({ store, time }, index) =>
        new QuotaInstance({
          name: `journal-${index}`,
          store,
          time,
          clock: this.simulated.clock,
          random: this.simulated.random,
          deadlineMs: schedule.deadlineMs,
          onExceeded: (exceeded, characters) => this.#checkRefusal(exceeded, characters),
        }),
    );
  }

  /** A refusal counts nothing but characters that are charged, or about to be. */
  #checkRefusal({ used, quota }: QuotaExceeded, characters: number): void {
    const inFlight = this.instances.reduce((sum, { inFlight }) => sum + inFlight, 0);
    const charged = this.#charges().reduce((sum, charge) => sum + charge, 0);
    if (used + characters <= quota) this.problems.push(`refused ${characters} at ${used} of ${quota}`);
    if (used > charged + inFlight + this.#voided) {
      this.problems.push(`refused at ${used}, with ${charged} charged and ${inFlight} in flight`);
    }
  }

  /** The charges of each flush, in the order of the log. */
  #charges(): number[] {
    const { log } = this.simulated;
    return log.all
      .filter(({ type }) => type === "Entries")
      .map(({ data }) => JSON.parse(Buffer.from(data).toString("utf8")) as { entries: Entry[] })
      .map(({ entries }) => spentIn(entries, apiKey, month));
  }

  async request(index: number, characters: number, work?: Work): Promise<string> {
    const { quota } = this.#schedule;
    const response = await this.instances[index]?.request(apiKey, month, characters, quota, work);
    if (response === "served") this.#served.push({ characters, instance: index });
    return response ?? "";
  }

  async void(nth: number): Promise<void> {
    const [serving] = this.#served.splice(nth % Math.max(1, this.#served.length), 1);
    if (!serving) return;
    this.#voided += serving.characters;
    await this.instances[serving.instance]?.void(apiKey, month, serving.characters);
  }

  /** Advances the clock until the promise settles. */
  async until<T>(promise: Promise<T>, withinMs = Number.POSITIVE_INFINITY): Promise<T | undefined> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    const { time } = this.simulated;
    const end = time.now() + withinMs;
    await time.runUntil(() => isSettled || time.now() >= end);
    return isSettled ? await promise : undefined;
  }

  async pass(ms: number): Promise<void> {
    await this.until(new Promise<void>((resolve) => this.simulated.time.after(ms, resolve)));
  }

  at(ms: number): Promise<void> {
    return new Promise((resolve) => this.simulated.time.after(ms, resolve));
  }

  async play(): Promise<void> {
    const { requests, faults, voids } = this.#schedule;
    for (const fault of faults) void this.#fail(fault);
    const voided = Promise.all(voids.map((at) => this.at(at).then(() => this.void(at))));
    const responses = requests.map(async ({ at, instance, characters, work }) => {
      await this.at(at);
      const response = this.request(instance, characters, work);
      return await Promise.race([response, this.#killed(instance)]);
    });
    const all = await this.until(Promise.all(responses), 12_000 + respondWithinMs);
    if (all === undefined) this.problems.push("a live instance gave no answer");
    await this.until(voided);
  }

  /** At least one process survives. */
  async #fail({ at, instance, kind, ms }: Fault): Promise<void> {
    const process = this.processes[instance] as SimulatedProcess;
    await this.at(at);
    if (kind === "kill" && instance > 0) return process.kill();
    if (kind === "cut") process.isCut = true;
    else process.freeze();
    await this.at(ms);
    process.isCut = false;
    process.thaw();
  }

  /** Resolves when the process is killed, before the request or after it. */
  async #killed(instance: number): Promise<string> {
    while (this.processes[instance]?.isKilled === false) await this.at(1_000);
    return "killed";
  }

  /** All that is left can be spent from one instance, and nothing more. */
  async spendTheRest(): Promise<void> {
    const charged = () => this.#charges().reduce((sum, charge) => sum + charge, 0);
    for (let left = this.#schedule.quota - charged(); left > 0; left = this.#schedule.quota - charged()) {
      const response = await this.until(this.request(0, left), respondWithinMs);
      if (response === "unavailable") continue;
      if (response !== "served") return void this.problems.push(`${left} are left, but ${response}`);
      await this.pass(1_000);
    }
    const response = await this.until(this.request(0, 1), respondWithinMs);
    if (response === "served") this.problems.push("served beyond the quota");
  }

  check(): void {
    let sum = 0;
    for (const charge of this.#charges()) {
      sum += charge;
      if (sum > this.#schedule.quota) this.problems.push(`charged ${sum} of ${this.#schedule.quota}`);
    }
    const served = this.#served.reduce((total, { characters }) => total + characters, 0);
    if (sum < served) this.problems.push(`served ${served}, but charged ${sum}`);
    expect(this.problems.join("; ")).to.equal("");
  }
}

const numRuns = Number(process.env.QUOTA_MODEL_RUNS ?? 200);

describe(`reservations of several instances, on random schedules (seed ${testSeed})`, () => {
  it("never exceed the quota nor refuse while characters are left, whatever fails", async function () {
    this.timeout(numRuns * 2_000);
    const schedule = fc.record({
      ...network,
      faults: fc.array(fault, { maxLength: 5 }),
      voids: fc.constant([]),
    });
    const property = fc.asyncProperty(schedule, async (schedule) => {
      const run = new Run(schedule);
      await run.play();
      await run.pass(10_000);
      await run.spendTheRest();
      run.check();
    });
    await fc.assert(property, { seed: testSeed, numRuns });
  });

  it("hold the characters of requests in progress, and return those of failed ones, whatever fails", async function () {
    this.timeout(numRuns * 2_000);
    const work = fc.record({ ms: fc.nat(9_000), fails: fc.boolean() });
    const held = fc.record({
      at: fc.nat(4_000),
      instance,
      characters: fc.integer({ min: 1, max: 60 }),
      work,
    });
    const schedule: fc.Arbitrary<Schedule> = fc.record({
      ...network,
      requests: fc.array(fc.oneof(held, request), { minLength: 5, maxLength: 60, size: "max" }),
      faults: fc.array(fault, { maxLength: 3 }),
      voids: fc.constant([]),
    });
    const property = fc.asyncProperty(schedule, async (schedule) => {
      const run = new Run(schedule);
      await run.play();
      await run.pass(90_000);
      await run.spendTheRest();
      run.check();
    });
    await fc.assert(property, { seed: testSeed, numRuns, examples: [[heldAndClosed]] });
  });

  it("make voided characters available again", async function () {
    this.timeout(numRuns * 2_000);
    const schedule = fc.record({
      ...network,
      faults: fc.constant([]),
      voids: fc.array(fc.nat(6_000), { maxLength: 10 }),
    });
    const property = fc.asyncProperty(schedule, async (schedule) => {
      const run = new Run(schedule);
      await run.play();
      // What could not be appended is repeated at the regular checks, every ten seconds.
      await run.pass(schedule.loss === 0 && schedule.deadlineMs > 1_000 ? 2_000 : 90_000);
      await run.spendTheRest();
      run.check();
    });
    await fc.assert(property, { seed: testSeed, numRuns });
  });
});
