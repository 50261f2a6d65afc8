import { type EventStore, EventStoreUnavailable } from "../../src/eventstore/event-store.ts";

export type Disturbance = "none" | "refused" | "answer lost";

export interface DisturbedStore extends EventStore {
  /** Holds appends back until `release`. */
  hold(): void;
  release(): void;
  /** What happens to the next appends, in order. */
  disturb(...next: Disturbance[]): void;
  /** All appends are refused as long as this is set. */
  refusesAppends: boolean;
  /** Reads throw as long as this is set. */
  readsFail: boolean;
  /** The number of appends that wait for `release`. */
  readonly held: number;
  /** The number of appends so far, repetitions included. */
  readonly appends: number;
}

/** A store whose appends can be held back, refused, or stored without a response. */
export const disturbedStore = (store: EventStore): DisturbedStore => {
  const disturbances: Disturbance[] = [];
  const waiting: (() => void)[] = [];
  let isHolding = false;
  let appends = 0;
  let readsFail = false;
  let refusesAppends = false;

  const unavailable = () => new EventStoreUnavailable("the event store cannot be reached");

  return {
    ...store,
    append: async (stream, events, expected) => {
      appends += 1;
      if (isHolding) await new Promise<void>((resolve) => waiting.push(resolve));
      const disturbance = disturbances.shift() ?? "none";
      if (refusesAppends || disturbance === "refused") throw unavailable();
      const result = await store.append(stream, events, expected);
      if (disturbance === "answer lost") throw unavailable();
      return result;
    },
    async *readStream(stream, options) {
      if (readsFail) throw unavailable();
      yield* store.readStream(stream, options);
    },
    hold: () => {
      isHolding = true;
    },
    release: () => {
      isHolding = false;
      for (const append of waiting.splice(0)) append();
    },
    disturb: (...next) => disturbances.push(...next),
    get refusesAppends() {
      return refusesAppends;
    },
    set refusesAppends(refuses) {
      refusesAppends = refuses;
    },
    get readsFail() {
      return readsFail;
    },
    set readsFail(fail) {
      readsFail = fail;
    },
    get held() {
      return waiting.length;
    },
    get appends() {
      return appends;
    },
  };
};
