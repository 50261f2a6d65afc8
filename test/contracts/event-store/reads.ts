import { expect } from "chai";
import { event, eventsOf, fill, longLog, read, rejectionOf, revisions } from "./events.ts";
import type { Rule } from "./rule.ts";

export const readRules = (rule: Rule): void => {
  rule("reads nothing from a stream that does not exist", async ({ store }) => {
    expect(await read(store, "s")).to.deep.equal([]);
    expect(await read(store, "s", { direction: "backwards" })).to.deep.equal([]);
  });

  rule("reads from the beginning to the end, or from the end to the beginning", async ({ store }) => {
    await store.append("s", eventsOf(4), "none");
    expect(revisions(await read(store, "s"))).to.deep.equal([0, 1, 2, 3]);
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal([3, 2, 1, 0]);
  });

  rule("starts at `from`, inclusive, in both directions", async ({ store }) => {
    await store.append("s", eventsOf(4), "none");
    expect(revisions(await read(store, "s", { fromInclusive: 2 }))).to.deep.equal([2, 3]);
    expect(revisions(await read(store, "s", { fromInclusive: 2, direction: "backwards" }))).to.deep.equal([
      2, 1, 0,
    ]);
    expect(revisions(await read(store, "s", { fromInclusive: 0, direction: "backwards" }))).to.deep.equal([
      0,
    ]);
  });

  rule("from beyond the end, reads nothing forwards and everything backwards", async ({ store }) => {
    await store.append("s", eventsOf(2), "none");
    expect(await read(store, "s", { fromInclusive: 2 })).to.deep.equal([]);
    expect(revisions(await read(store, "s", { fromInclusive: 99, direction: "backwards" }))).to.deep.equal([
      1, 0,
    ]);
  });

  rule("reads at most `limit` events", async ({ store }) => {
    await store.append("s", eventsOf(5), "none");
    expect(revisions(await read(store, "s", { limit: 2 }))).to.deep.equal([0, 1]);
    expect(revisions(await read(store, "s", { fromInclusive: 1, limit: 3 }))).to.deep.equal([1, 2, 3]);
    expect(revisions(await read(store, "s", { limit: 2, direction: "backwards" }))).to.deep.equal([4, 3]);
    expect(await read(store, "s", { limit: 0 })).to.deep.equal([]);
  });

  rule(
    "returns the event at a position of any stream, and undefined at other positions",
    async ({ store }) => {
      const fact = event({ text: "complete" });
      await store.append("a", [event()], "none");
      const { position } = await store.append("b", [fact], "none");
      const [recorded] = await read(store, "b");
      expect(await store.eventAt(position)).to.deep.equal(recorded);
      expect(recorded).to.deep.include(fact);
      expect(await store.eventAt(position + 1)).to.equal(undefined);
      expect(await store.eventAt(-1)).to.equal(undefined);
    },
  );

  rule("reads the events of one stream only", async ({ store }) => {
    await Promise.all(["s", "s2", "S"].map((stream) => store.append(stream, eventsOf(3), "none")));
    expect(await read(store, "s")).to.have.length(3);
  });

  rule("reads a long stream completely, in both directions, with and without a limit", async ({ store }) => {
    await fill(store, "s", longLog);
    const all = Array.from({ length: longLog }, (_, revision) => revision);
    expect(revisions(await read(store, "s"))).to.deep.equal(all);
    expect(revisions(await read(store, "s", { direction: "backwards" }))).to.deep.equal(all.toReversed());
    expect(revisions(await read(store, "s", { fromInclusive: 1000, limit: 3000 }))).to.deep.equal(
      all.slice(1000, 4000),
    );
    const back = await read(store, "s", { fromInclusive: 4000, limit: 3000, direction: "backwards" });
    expect(revisions(back)).to.deep.equal(all.slice(1001, 4001).toReversed());
  });

  rule("reads events of the maximum size", async ({ store }) => {
    const text = "🎙".repeat(250_000);
    for (let n = 0; n < 5; n++) await store.append("s", [event({ n, text })], "any");
    const events = await read(store, "s");
    expect(events.map(({ data }) => data)).to.deep.equal([0, 1, 2, 3, 4].map((n) => ({ n, text })));
  });

  rule("reads every event that was appended before", async ({ store }) => {
    for (let n = 0; n < 20; n++) {
      await store.append("s", [event()], "any");
      expect(await read(store, "s")).to.have.length(n + 1);
    }
  });

  rule("can be stopped before its end", async ({ store }) => {
    await fill(store, "s", 3000);
    for await (const { revision } of store.readStream("s")) if (revision === 1) break;
    expect(await read(store, "s", { limit: 1 })).to.have.length(1);
  });

  rule("throws the signal's reason, before the first event and between events", async ({ store }) => {
    await fill(store, "s", 5000);
    const reason = new Error("cancelled");
    expect(await rejectionOf(() => read(store, "s", { signal: AbortSignal.abort(reason) }))).to.equal(reason);
    const leaving = new AbortController();
    const readOn = async (): Promise<void> => {
      for await (const { revision } of store.readStream("s", { signal: leaving.signal })) {
        if (revision === 10) leaving.abort(reason);
        expect(revision).to.be.at.most(10);
      }
    };
    expect(await rejectionOf(readOn)).to.equal(reason);
  });

  rule("refuses a `from` or a `limit` that is not a natural number", async ({ store }) => {
    for (const options of [
      { fromInclusive: -1 },
      { fromInclusive: 0.5 },
      { limit: -1 },
      { limit: Number.NaN },
    ]) {
      expect(await rejectionOf(() => read(store, "s", options))).to.be.instanceOf(RangeError);
    }
  });

  rule(
    "reads streams of any length completely, forwards and backwards, with and without a limit",
    async ({ store }) => {
      // Drivers read in pages, some of 16, 80 and 336 events.
      for (const length of [1, 15, 16, 17, 79, 80, 81, 335, 336, 337]) {
        const stream = `s-${length}`;
        await store.append(stream, eventsOf(length), "none");
        const all = Array.from({ length }, (_, n) => n);
        for (const limit of [undefined, length - 1, length, length + 1]) {
          const options = limit === undefined ? {} : { limit };
          const expected = all.slice(0, limit);
          expect(revisions(await read(store, stream, options))).to.deep.equal(expected);
          const backwards = revisions(await read(store, stream, { ...options, direction: "backwards" }));
          expect(backwards).to.deep.equal(all.toReversed().slice(0, limit));
        }
      }
    },
  );
};
