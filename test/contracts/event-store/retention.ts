import { expect } from "chai";
import { WrongExpectedRevision } from "../../../src/eventstore/event-store.ts";
import { event, eventsOf, fill, read, readLog, rejectionOf, revisions } from "./events.ts";
import type { Rule } from "./rule.ts";

export const retentionRules = (rule: Rule): void => {
  rule("keeps at most `maxCount` events", async ({ store }) => {
    await store.setRetention("s", { maxCount: 3 });
    await store.append("s", eventsOf(5), "none");
    await store.append("s", [event()], 4);
    expect(revisions(await read(store, "s"))).to.deep.equal([3, 4, 5]);
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal([5, 4, 3]);
    expect(revisions(await read(store, "s", { fromInclusive: 0, limit: 2 }))).to.deep.equal([3, 4]);
  });

  rule("keeps more events than a driver reads in a page", async ({ store }) => {
    await store.setRetention("s", { maxCount: 100 });
    await store.append("s", eventsOf(400), "none");
    await store.append("s", [event()], 399);
    const kept = Array.from({ length: 100 }, (_, n) => 301 + n);
    expect(revisions(await read(store, "s"))).to.deep.equal(kept);
    expect(revisions(await read(store, "s", { fromInclusive: 0 }))).to.deep.equal(kept);
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal(kept.toReversed());
  });

  rule("keeps more young events than a driver reads in a page", async ({ store, advance }) => {
    await store.setRetention("s", { maxAgeSeconds: 60 });
    await store.append("s", eventsOf(300), "none");
    advance(70_000);
    await store.append("s", eventsOf(100), 299);
    const young = Array.from({ length: 100 }, (_, n) => 300 + n);
    expect(revisions(await read(store, "s"))).to.deep.equal(young);
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal(young.toReversed());
  });

  rule("trims existing events at once by `maxCount`, and reads show where they begin", async ({ store }) => {
    await fill(store, "s", 2500);
    await store.setRetention("s", { maxCount: 2 });
    expect(revisions(await read(store, "s"))).to.deep.equal([2498, 2499]);
    expect(revisions(await read(store, "s", { fromInclusive: 5, limit: 1 }))).to.deep.equal([2498]);
    await store.setRetention("s", { maxCount: 2 });
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal([2499, 2498]);
    expect(await rejectionOf(() => store.append("s", [event()], "none"))).to.be.instanceOf(
      WrongExpectedRevision,
    );
  });

  rule("trims existing events at the next append", async ({ store }) => {
    await fill(store, "s", 5000);
    await store.setRetention("s", { maxCount: 2 });
    await store.append("s", [event()], "any");
    expect(revisions(await read(store, "s"))).to.deep.equal([4999, 5000]);
  });

  rule("keeps events for at most `maxAgeSeconds`", async ({ store, advance }) => {
    await store.setRetention("s", { maxAgeSeconds: 60 });
    await store.append("s", eventsOf(2), "none");
    advance(50_000);
    await store.append("s", [event()], 1);
    expect(revisions(await read(store, "s"))).to.deep.equal([0, 1, 2]);
    advance(20_000);
    await store.append("s", [event()], 2);
    expect(revisions(await read(store, "s"))).to.deep.equal([2, 3]);
  });

  rule("always keeps the last event", async ({ store, advance }) => {
    await store.setRetention("s", { maxCount: 1, maxAgeSeconds: 1 });
    await store.append("s", eventsOf(3), "none");
    advance(3_600_000);
    await store.append("other", [event()], "none");
    expect(revisions(await read(store, "s", { direction: "backwards", limit: 1 }))).to.deep.equal([2]);
  });

  rule("continues revisions and positions", async ({ store }) => {
    await store.setRetention("s", { maxCount: 1 });
    let last = await store.append("s", [event()], "none");
    for (let revision = 1; revision < 10; revision++) {
      const next = await store.append("s", [event()], revision - 1);
      expect(next.revision).to.equal(revision);
      expect(next.position).to.be.greaterThan(last.position);
      last = next;
    }
  });

  rule("hides trimmed events from subscriptions", async ({ store }) => {
    await fill(store, "s", 3000);
    await store.append("t", eventsOf(2), "none");
    await store.setRetention("s", { maxCount: 2 });
    await store.append("s", [event()], "any");
    const left = (await readLog(store)).map(({ stream, revision }) => `${stream}@${revision}`);
    expect(left).to.deep.equal(["s@2999", "t@0", "t@1", "s@3000"]);
  });

  rule("hides trimmed events from `eventAt`", async ({ store }) => {
    await store.setRetention("s", { maxCount: 1 });
    const first = await store.append("s", [event()], "none");
    const last = await store.append("s", [event()], 0);
    expect(await store.eventAt(first.position)).to.equal(undefined);
    expect((await store.eventAt(last.position))?.revision).to.equal(1);
  });

  rule("does not affect other streams", async ({ store }) => {
    await store.setRetention("s", { maxCount: 1 });
    await store.append("s", eventsOf(3), "none");
    await store.append("s2", eventsOf(3), "none");
    expect(await read(store, "s2")).to.have.length(3);
  });

  rule("is stored in the log", async ({ store, again }) => {
    await store.setRetention("s", { maxCount: 2 });
    await store.close();
    const reopened = await again();
    await reopened.append("s", eventsOf(5), "none");
    expect(revisions(await read(reopened, "s"))).to.deep.equal([3, 4]);
    await reopened.close();
  });

  rule("can be changed and removed", async ({ store }) => {
    await store.setRetention("s", { maxCount: 1 });
    await store.append("s", eventsOf(3), "none");
    await store.setRetention("s", {});
    await store.append("s", eventsOf(3), "any");
    expect(revisions(await read(store, "s"))).to.deep.equal([2, 3, 4, 5]);
  });

  rule("recognises a repeated append whose first events were trimmed", async ({ store }) => {
    await store.setRetention("s", { maxCount: 2 });
    await store.append("s", eventsOf(3), "none");
    const events = eventsOf(4);
    const first = await store.append("s", events, 2);
    expect(await store.append("s", events, 2)).to.deep.equal(first);
    expect(await store.append("s", events, "any")).to.deep.equal(first);
    expect(revisions(await read(store, "s"))).to.deep.equal([5, 6]);
  });

  rule("refuses limits that would keep no event", async ({ store }) => {
    for (const retention of [
      { maxCount: 0 },
      { maxCount: 1.5 },
      { maxAgeSeconds: 0 },
      { maxAgeSeconds: -1 },
    ]) {
      expect(await rejectionOf(() => store.setRetention("s", retention))).to.be.instanceOf(RangeError);
    }
  });
};
