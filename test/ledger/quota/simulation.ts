import { setImmediate } from "node:timers/promises";
import type { Time } from "../../../src/async/time.ts";
import {
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
} from "../../../src/eventstore/event-store.ts";
import { collect } from "../../support/collect.ts";
import { type EventLog, openEventLog } from "../../support/eventstoredb-node/event-log.ts";
import { randomLag, seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import { logStore, toRecorded } from "../../support/eventstoredb-node/log-store.ts";

/** A clock that runs one timer at a time, in order. */
export interface SimulatedTime extends Time {
  /**
   * Runs timers, and all that follows each without time passing, until the condition holds or none
   * is left.
   */
  runUntil(holds: () => boolean): Promise<void>;
}

/** Turns of the event loop that a command of the handler takes without waiting for a timer. */
const turnsPerTimer = 6;

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < turnsPerTimer; turn++) await setImmediate();
};

export const createSimulatedClock = (): SimulatedTime => {
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + Math.max(0, ms), run };
      const index = timers.findLastIndex(({ at }) => at <= timer.at);
      timers.splice(index + 1, 0, timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    runUntil: async (holds) => {
      for (await settle(); !holds(); await settle()) {
        const next = timers.shift();
        if (!next) return;
        now = next.at;
        next.run();
      }
    },
  };
};

export interface Faults {
  /** How often a request to the store, or its response, is lost: 0 to 1. */
  readonly loss: number;
  /** The longest index lag in milliseconds. */
  readonly maxLagMs: number;
  readonly seed: number;
}

/** A log with index lag, and processes that reach it over a slow network. */
export class SimulatedLog {
  readonly time = createSimulatedClock();
  readonly log: EventLog;
  readonly random: () => number;
  readonly loss: number;

  constructor({ loss, maxLagMs, seed }: Faults) {
    this.loss = loss;
    this.random = seededRandom(seed);
    this.log = openEventLog({
      time: this.time,
      clock: this.clock,
      indexLagMs: randomLag(seed + 1, maxLagMs),
      commitTimeoutMs: 100,
    });
  }

  /** Milliseconds since the epoch. */
  clock = (): number => Date.UTC(2026, 10, 5) + this.time.now();

  latency = (): number => 1 + this.random() ** 4 * 40;
}

/**
 * A process that can be frozen and killed. Nothing from outside reaches it then; requests that it
 * has sent arrive.
 */
export class SimulatedProcess {
  readonly #simulated: SimulatedLog;
  #state: "running" | "frozen" | "killed" = "running";
  #held: (() => void)[] = [];
  /** Nothing that the process sends arrives. */
  isCut = false;

  constructor(simulated: SimulatedLog) {
    this.#simulated = simulated;
  }

  get isKilled(): boolean {
    return this.#state === "killed";
  }

  freeze(): void {
    if (this.#state === "running") this.#state = "frozen";
  }

  thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    for (const run of this.#held.splice(0)) this.deliver(run);
  }

  kill(): void {
    this.#state = "killed";
    this.#held = [];
  }

  deliver(run: () => void): void {
    if (this.#state === "running") run();
    else if (this.#state === "frozen") this.#held.push(run);
  }

  readonly time: Time = {
    now: () => this.#simulated.time.now(),
    after: (ms, run) => this.#simulated.time.after(ms, () => this.deliver(run)),
  };

  readonly store: EventStore = {
    append: (stream, events, expected) =>
      this.#call(() => logStore(this.#simulated.log).append(stream, events, expected)),
    readStream: (stream, options) => this.#read(stream, options),
    subscribe: (options) => this.#subscribe(options),
    eventAt: () => Promise.reject(new Error("not simulated")),
    setRetention: () => Promise.reject(new Error("not simulated")),
    deleteStream: () => Promise.reject(new Error("not simulated")),
    ping: () => Promise.resolve(),
    checkIntegrity: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };

  /** Calls the server. The request or the response may be lost. */
  #call<T>(serve: () => Promise<T>): Promise<T> {
    const { time, random, latency, loss } = this.#simulated;
    return new Promise((resolve, reject) => {
      const response = (run: () => void): void => {
        time.after(latency(), () => this.deliver(run));
      };
      const lose = (): void => response(() => reject(new EventStoreUnavailable("lost")));
      time.after(latency(), () => {
        if (this.isCut || random() < loss) return lose();
        const isResponseLost = random() < loss;
        serve().then(
          (value) => (isResponseLost ? lose() : response(() => resolve(value))),
          (error: unknown) => (isResponseLost ? lose() : response(() => reject(error))),
        );
      });
    });
  }

  async *#read(...[stream, options]: Parameters<EventStore["readStream"]>) {
    const read = () => collect(logStore(this.#simulated.log).readStream(stream, options));
    yield* await this.#call(read);
  }

  async *#subscribe({
    fromExclusive = -1,
    prefixes = [],
    signal,
  }: Parameters<EventStore["subscribe"]>[0] = {}) {
    const { log, time, latency } = this.#simulated;
    let position = fromExclusive;
    while (signal?.aborted !== true) {
      const events = log.all
        .slice(log.indexAt(position + 1))
        .filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      await new Promise<void>((resolve) => {
        const arrive = (): void => void time.after(latency(), () => this.deliver(resolve));
        if (events.length > 0) return arrive();
        const stop = log.onIndexed(() => {
          stop();
          arrive();
        });
      });
      if (this.isCut) throw new EventStoreUnavailable("cut");
      if (events.length === 0) continue;
      position = events.at(-1)?.position ?? position;
      yield { events: events.map(toRecorded), position, caughtUp: true } satisfies EventBatch;
    }
  }
}
