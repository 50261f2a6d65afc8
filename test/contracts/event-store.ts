import { appending } from "./event-store/appending.ts";
import { closing } from "./event-store/closing.ts";
import { reading } from "./event-store/reading.ts";
import { repeating } from "./event-store/repeating.ts";
import { retaining } from "./event-store/retaining.ts";
import type { EventStoreSetup, Rule } from "./event-store/rule.ts";
import { subscribing } from "./event-store/subscribing.ts";

export interface ContractOptions {
  /** Rules that this driver cannot keep, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
}

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
