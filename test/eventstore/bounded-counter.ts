import type { Decider } from "../../src/eventstore/command-handler.ts";

/** A sum with a limit: the smallest invariant that concurrent commands can violate. */
export interface Counter {
  readonly sum: number;
}

export type CounterEvent = {
  readonly type: "Added";
  readonly data: { readonly id: number; readonly amount: number };
};

export const counter: Decider<Counter, CounterEvent> = {
  initial: () => ({ sum: 0 }),
  evolve: ({ sum }, { data }) => ({ sum: sum + data.amount }),
};

export class LimitExceeded extends Error {}

export const add =
  (id: number, amount: number, limit: number) =>
  ({ sum }: Counter): CounterEvent[] => {
    if (sum + amount > limit) throw new LimitExceeded();
    return [{ type: "Added", data: { id, amount } }];
  };
