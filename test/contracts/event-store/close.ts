import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { collect } from "../../support/collect.ts";
import { event, eventsOf, ids, read, rejectionOf } from "./events.ts";
import type { Rule } from "./rule.ts";

export const closeRules = (rule: Rule): void => {
  rule("resolves a ping while it accepts appends", async ({ store }) => {
    await store.ping();
  });

  rule("waits for appends in progress", async ({ store, again }) => {
    const facts = eventsOf(100);
    const appends = facts.map((fact) => store.append("s", [fact], "any"));
    await store.close();
    expect((await Promise.all(appends)).at(-1)?.revision).to.equal(99);
    const reopened = await again();
    expect(ids(await read(reopened, "s"))).to.deep.equal(ids(facts));
    await reopened.close();
  });

  rule("ends waiting subscriptions", async ({ store }) => {
    let closed: Promise<void> | undefined;
    for await (const { caughtUp } of store.subscribe()) if (caughtUp) closed ??= store.close();
    await closed;
    expect(closed).to.be.instanceOf(Promise);
  });

  rule("can be closed twice", async ({ store }) => {
    const order: number[] = [];
    await Promise.all([1, 2].map((call) => store.close().then(() => order.push(call))));
    expect(order, "no call may resolve before the store is closed").to.deep.equal([1, 2]);
    await store.close();
  });

  rule("refuses every call once it is closed", async ({ store }) => {
    await store.close();
    const calls: (() => Promise<unknown>)[] = [
      () => store.append("s", [event()], "any"),
      () => read(store, "s"),
      () => store.eventAt(1),
      () => collect(store.subscribe()),
      () => store.setRetention("s", { maxCount: 1 }),
      () => store.deleteStream("s"),
      () => store.ping(),
    ];
    for (const call of calls) expect(await rejectionOf(call)).to.be.instanceOf(EventStoreUnavailable);
  });
};
