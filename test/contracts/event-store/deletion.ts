import { expect } from "chai";
import { event, eventsOf, read, readLog } from "./events.ts";
import type { Rule } from "./rule.ts";

export const deletionRules = (rule: Rule): void => {
  rule("deletes the events of one stream alone", async ({ store }) => {
    const { position } = await store.append("s", eventsOf(3), "none");
    await store.append("s2", eventsOf(2), "none");
    await store.deleteStream("s");
    expect(await read(store, "s")).to.deep.equal([]);
    expect(await read(store, "s", { direction: "backwards" })).to.deep.equal([]);
    expect(await store.eventAt(position)).to.equal(undefined);
    expect(await read(store, "s2")).to.have.length(2);
  });

  rule("hides deleted events from subscriptions", async ({ store }) => {
    await store.append("s", eventsOf(3), "none");
    await store.append("s2", eventsOf(1), "none");
    await store.deleteStream("s");
    expect((await readLog(store)).map(({ stream }) => stream)).to.deep.equal(["s2"]);
  });

  rule("deletes a stream again, and one that does not exist", async ({ store }) => {
    await store.append("s", [event()], "none");
    await store.deleteStream("s");
    await store.deleteStream("s");
    await store.deleteStream("never");
    expect(await read(store, "s")).to.deep.equal([]);
  });

  rule("lets a deleted stream begin anew, at later positions", async ({ store }) => {
    const deleted = await store.append("s", eventsOf(3), "none");
    await store.deleteStream("s");
    const next = event();
    const appended = await store.append("s", [next], "none");
    expect(appended.position).to.be.greaterThan(deleted.position);
    expect((await read(store, "s")).map(({ id }) => id)).to.deep.equal([next.id]);
  });

  rule("shows the deletion to other processes", async ({ store, again }) => {
    await store.append("s", eventsOf(2), "none");
    const other = await again();
    await store.deleteStream("s");
    expect(await read(other, "s")).to.deep.equal([]);
    await other.close();
  });
};
