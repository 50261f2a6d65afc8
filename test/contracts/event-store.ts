import { appendRules } from "./event-store/appends.ts";
import { closeRules } from "./event-store/close.ts";
import { deletionRules } from "./event-store/deletion.ts";
import { idempotencyRules } from "./event-store/idempotency.ts";
import { readRules } from "./event-store/reads.ts";
import { retentionRules } from "./event-store/retention.ts";
import type { EventStoreSetup, Rule } from "./event-store/rule.ts";
import { subscriptionRules } from "./event-store/subscriptions.ts";

export interface ContractOptions {
  /** Rules that this driver cannot fulfil, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** The rules of the port (src/eventstore/event-store.ts), for one driver. */
export const eventStoreContract = (
  driver: string,
  open: () => Promise<EventStoreSetup>,
  { except = {} }: ContractOptions = {},
): void => {
  const rule: Rule = (title, holds) => {
    const reason = except[title];
    // The report names each exception with its reason: left out, it would look like a rule that
    // this driver keeps.
    if (reason !== undefined) return void it.skip(`${title} (exception: ${reason})`);
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
    describe("append", () => appendRules(rule));
    describe("append again", () => idempotencyRules(rule));
    describe("readStream", () => readRules(rule));
    describe("subscribe", () => subscriptionRules(rule));
    describe("setRetention", () => retentionRules(rule));
    describe("deleteStream", () => deletionRules(rule));
    describe("ping and close", () => closeRules(rule));
  });
};
