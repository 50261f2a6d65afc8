import type { Decider } from "../../src/eventstore/command-handler.ts";

/** A purse that must never hold more than its limit: the smallest thing that concurrency can spoil. */
export interface Purse {
  readonly sum: number;
}

export type PurseEvent = {
  readonly type: "Added";
  readonly data: { readonly id: number; readonly amount: number };
};

export const purse: Decider<Purse, PurseEvent> = {
  initial: () => ({ sum: 0 }),
  evolve: ({ sum }, { data }) => ({ sum: sum + data.amount }),
};

export class Full extends Error {}

export const add =
  (id: number, amount: number, limit: number) =>
  ({ sum }: Purse): PurseEvent[] => {
    if (sum + amount > limit) throw new Full();
    return [{ type: "Added", data: { id, amount } }];
  };
