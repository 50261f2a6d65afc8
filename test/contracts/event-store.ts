import type { EventStore } from "../../src/eventstore/event-store.ts";
import { appending } from "./event-store/appending.ts";
import { closing } from "./event-store/closing.ts";
import { reading } from "./event-store/reading.ts";
import { repeating } from "./event-store/repeating.ts";
import { retaining } from "./event-store/retaining.ts";
import { subscribing } from "./event-store/subscribing.ts";

/** What a driver gives: a store over an empty log, further clients of the same log, and its end. */
export interface EventStoreSetup {
  readonly store: EventStore;
  /** Opens the same log once more, as another process would. */
  again(): Promise<EventStore>;
  /** Lets the store's clock run on. */
  advance(milliseconds: number): void;
  /** Closes and removes everything. */
  end(): Promise<void>;
}

export interface ContractOptions {
  /** Rules that this driver cannot keep, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** Declares one rule of the port, which gets a log of its own. */
export type Rule = (title: string, holds: (setup: EventStoreSetup) => Promise<void>) => void;

/** Every sentence of the port (src/eventstore/event-store.ts), for every driver. */
export const eventStoreContract = (
  driver: string,
  open: () => Promise<EventStoreSetup>,
  { except = {} }: ContractOptions = {},
): void => {
  const rule: Rule = (title, holds) => {
    const reason = except[title];
    if (reason !== undefined) return void it.skip(`${title} (not here: ${reason})`);
    it(title, async () => {
      const setup = await open();
      try {
        await holds(setup);
      } finally {
        await setup.end();
      }
    });
  };

  describe(`the event store: ${driver}`, () => {
    describe("append", () => appending(rule));
    describe("append again", () => repeating(rule));
    describe("readStream", () => reading(rule));
    describe("subscribe", () => subscribing(rule));
    describe("setRetention", () => retaining(rule));
    describe("ping and close", () => closing(rule));
  });
};
