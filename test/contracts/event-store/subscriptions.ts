import { expect } from "chai";
import type { EventBatch, NewEvent, RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { batchesUntil, event, eventsOf, fill, ids, longLog, readLog } from "./events.ts";
import type { Rule } from "./rule.ts";

export const subscriptionRules = (rule: Rule): void => {
  rule("reports `caughtUp` on an empty log", async ({ store }) => {
    const batches = await batchesUntil(store, {}, ({ caughtUp }) => caughtUp);
    expect(batches.flatMap(({ events }) => events)).to.deep.equal([]);
  });

  rule("delivers the whole log in order of position before `caughtUp`", async ({ store }) => {
    const events: NewEvent[] = [];
    for (const stream of ["a", "b", "c", "a", "b"]) {
      const more = eventsOf(2);
      await store.append(stream, more, "any");
      events.push(...more);
    }
    expect(ids(await readLog(store))).to.deep.equal(ids(events));
  });

  rule("delivers only events after the given position", async ({ store }) => {
    await store.append("s", eventsOf(2), "none");
    const { position } = await store.append("s", eventsOf(2), "any");
    const later = eventsOf(3);
    await store.append("t", later, "none");
    expect(ids(await readLog(store, { fromExclusive: position }))).to.deep.equal(ids(later));
  });

  rule("reports `caughtUp` without events after the position", async ({ store }) => {
    const { position } = await store.append("s", eventsOf(2), "none");
    const [batch] = await batchesUntil(store, { fromExclusive: position }, ({ caughtUp }) => caughtUp);
    expect(batch).to.deep.equal({ events: [], position, caughtUp: true });
  });

  rule("continues from any batch's position without loss or repetition", async ({ store }) => {
    await fill(store, "s", longLog);
    const batches = await batchesUntil(store, {}, ({ caughtUp }) => caughtUp);
    const all = batches.flatMap(({ events }) => ids(events));
    expect(all).to.have.length(longLog);
    // Reads a batch after each position, and the whole rest of the log after the middle one.
    const middle = batches.length >> 1;
    let before = 0;
    for (const [index, { events, position }] of batches.entries()) {
      before += events.length;
      const isEnough = ({ events, caughtUp }: EventBatch) =>
        caughtUp || (index !== middle && events.length > 0);
      const continued = await batchesUntil(store, { fromExclusive: position }, isEnough);
      const next = continued.flatMap((batch) => ids(batch.events));
      expect(next).to.deep.equal(all.slice(before, index === middle ? undefined : before + next.length));
      if (before < all.length) expect(next).not.to.deep.equal([]);
    }
  });

  rule("delivers each event of a long log once, in order, during concurrent appends", async ({ store }) => {
    await fill(store, "s", longLog);
    const appending = fill(store, "t", 3000);
    let count = 0;
    let last = -1;
    for await (const { events } of store.subscribe()) {
      for (const { position } of events) {
        expect(position).to.be.greaterThan(last);
        last = position;
      }
      count += events.length;
      if (count >= longLog + 3000) break;
    }
    await appending;
    expect(count).to.equal(longLog + 3000);
  });

  rule("reports `caughtUp` at the log's initial end, however fast the log grows", async ({ store }) => {
    await fill(store, "s", 5000);
    let batches = 0;
    for await (const { caughtUp } of store.subscribe()) {
      if (caughtUp) break;
      expect(++batches).to.be.below(20);
      await fill(store, "s", 5000);
    }
  });

  rule("delivers live events, and reports `caughtUp` with each", async ({ store }) => {
    const fact = event();
    let appended = false;
    const batches = await batchesUntil(store, {}, ({ caughtUp, events }) => {
      if (caughtUp && !appended) {
        appended = true;
        void store.append("s", [fact], "none");
      }
      return events.length > 0;
    });
    const live = batches.slice(batches.findIndex(({ caughtUp }) => caughtUp));
    expect(live.every(({ caughtUp }) => caughtUp)).to.equal(true);
    expect(live.flatMap(({ events }) => ids(events))).to.deep.equal([fact.id]);
  });

  rule("delivers another client's events", async ({ store, again }) => {
    const other = await again();
    const fact = event();
    let appended = false;
    const batches = await batchesUntil(store, {}, ({ caughtUp, events }) => {
      if (caughtUp && !appended) {
        appended = true;
        void other.append("s", [fact], "none");
      }
      return events.length > 0;
    });
    await other.close();
    expect(ids(batches.at(-1)?.events ?? [])).to.deep.equal([fact.id]);
  });

  rule("delivers no live batch without events or a new position", async ({ store }) => {
    const batches: EventBatch[] = [];
    let target = Number.POSITIVE_INFINITY;
    const append = async (): Promise<void> => {
      for (let n = 0; n < 20; n++)
        target = (await store.append(n % 2 ? "odd" : "even", [event()], "any")).position;
    };
    let appending: Promise<void> | undefined;
    for await (const batch of store.subscribe({ prefixes: ["even"] })) {
      batches.push(batch);
      if (batch.caughtUp) appending ??= append();
      if (batches.flatMap(({ events }) => events).length === 10) break;
    }
    await appending;
    const live = batches.slice(batches.findIndex(({ caughtUp }) => caughtUp));
    for (const [index, { events, position }] of live.entries()) {
      const before = live[index - 1];
      if (before !== undefined) expect(events.length > 0 || position > before.position).to.equal(true);
      expect(position).to.be.at.most(target);
    }
  });

  rule("reports the positions of events that the filter excludes", async ({ store }) => {
    let appended: Promise<number> | undefined;
    let wanted = Number.POSITIVE_INFINITY;
    for await (const { caughtUp, position, events } of store.subscribe({ prefixes: ["other-"] })) {
      expect(events).to.deep.equal([]);
      if (position >= wanted) break;
      if (caughtUp && appended === undefined) {
        appended = store.append("stream", [event()], "none").then((response) => response.position);
        wanted = await appended;
      }
    }
  });

  rule(
    "delivers only streams whose names start with one of the prefixes, taken literally",
    async ({ store }) => {
      const names = [
        "key-1",
        "key-2",
        "keys",
        "Key-1",
        "website-1",
        "a%b",
        "aXb",
        "a_c",
        "a*",
        "ab",
        "é-1",
        "e-1",
      ];
      for (const name of names) await store.append(name, [event()], "none");
      const delivered = async (...prefixes: string[]): Promise<string[]> =>
        (await readLog(store, { prefixes })).map(({ stream }) => stream);
      expect(await delivered("key-")).to.deep.equal(["key-1", "key-2"]);
      expect(await delivered("website-", "key-2")).to.deep.equal(["key-2", "website-1"]);
      expect(await delivered("key", "key-1")).to.deep.equal(["key-1", "key-2", "keys"]);
      expect(await delivered("a%")).to.deep.equal(["a%b"]);
      expect(await delivered("a_")).to.deep.equal(["a_c"]);
      expect(await delivered("a*")).to.deep.equal(["a*"]);
      expect(await delivered("é")).to.deep.equal(["é-1"]);
      expect(await delivered("ab", "abc")).to.deep.equal(["ab"]);
      expect(await delivered("nothing")).to.deep.equal([]);
      expect(await delivered()).to.deep.equal(names);
    },
  );

  rule("leaves out one stream, whose name is taken literally", async ({ store }) => {
    const names = [
      "journal-1",
      "journal-1+",
      "journal-11",
      "journal-(1)",
      "journal-(1).2",
      "journal-(1)x2",
      "journal",
      "other-1",
    ];
    for (const name of names) await store.append(name, [event()], "none");
    const delivered = async (except: string, ...prefixes: string[]): Promise<string[]> =>
      (await readLog(store, { prefixes, except })).map(({ stream }) => stream);
    expect(await delivered("journal-1", "journal-")).to.deep.equal([
      "journal-1+",
      "journal-11",
      "journal-(1)",
      "journal-(1).2",
      "journal-(1)x2",
    ]);
    expect(await delivered("journal-(1).2", "journal-(")).to.deep.equal(["journal-(1)", "journal-(1)x2"]);
    expect(await delivered("journal-1+", "journal-1", "other-")).to.deep.equal([
      "journal-1",
      "journal-11",
      "other-1",
    ]);
    expect(await delivered("journal-(1)", "journal-(")).to.deep.equal(["journal-(1).2", "journal-(1)x2"]);
    expect(await delivered("journal")).to.deep.equal(names.filter((name) => name !== "journal"));
    expect(await delivered("nothing", "other-")).to.deep.equal(["other-1"]);
  });

  rule("delivers live events of all but the stream that is left out", async ({ store }) => {
    const own = "journal-own";
    let appending: Promise<unknown> | undefined;
    const append = async () => {
      for (const name of [own, "journal-other", own]) await store.append(name, [event()], "any");
    };
    const batches = await batchesUntil(store, { prefixes: ["journal-"], except: own }, (batch) => {
      if (batch.caughtUp) appending ??= append();
      return batch.events.length > 0;
    });
    await appending;
    const streams = batches.flatMap(({ events }) => events.map(({ stream }) => stream));
    expect(streams).to.deep.equal(["journal-other"]);
  });

  rule("delivers a live event after many of streams that are not selected", async ({ store }) => {
    const steps = [
      () => store.append("other-1", [event()], "none"),
      () => store.append("rare-1", [event()], "none"),
      () => fill(store, "common", longLog),
      () => store.append("Rare-2", [event()], "none"),
      () => store.append("rare-é", [event()], "none"),
    ];
    let appending: Promise<unknown> | undefined;
    const appendAll = async () => {
      for (const step of steps) await step();
    };
    const delivered: RecordedEvent[] = [];
    await batchesUntil(store, { prefixes: ["rare-", "seldom-"] }, (batch) => {
      if (batch.caughtUp) appending ??= appendAll();
      delivered.push(...batch.events);
      return delivered.length === 2;
    });
    await appending;
    expect(delivered.map(({ stream }) => stream)).to.deep.equal(["rare-1", "rare-é"]);
    expect(delivered[0]?.position).to.be.below(delivered[1]?.position ?? 0);
  });

  rule("finds the few events of a prefix in a long log", async ({ store }) => {
    await store.append("rare-1", [event()], "none");
    await fill(store, "common", longLog);
    await store.append("rare-2", [event()], "none");
    expect((await readLog(store, { prefixes: ["rare-"] })).map(({ stream }) => stream)).to.deep.equal([
      "rare-1",
      "rare-2",
    ]);
  });

  rule("delivers all events to a slow consumer", async ({ store }) => {
    const batches = store.subscribe()[Symbol.asyncIterator]();
    await batches.next();
    await fill(store, "s", longLog);
    let count = 0;
    while (count < longLog) {
      const { value } = await batches.next();
      count += (value as EventBatch).events.length;
    }
    expect(count).to.equal(longLog);
    await batches.return?.();
  });

  rule("delivers every event to each of many subscribers", async ({ store }) => {
    const facts = eventsOf(50);
    const delivered = Array.from({ length: 10 }, async () => {
      let count = 0;
      for await (const { events } of store.subscribe()) {
        count += events.length;
        if (count === facts.length) return count;
      }
      return count;
    });
    for (const fact of facts) await store.append("s", [fact], "any");
    expect(await Promise.all(delivered)).to.deep.equal(Array.from({ length: 10 }, () => 50));
  });

  rule(
    "ends without an error when the signal is aborted: before, while waiting, or between batches",
    async ({ store }) => {
      await store.append("s", eventsOf(3), "none");
      for await (const _ of store.subscribe({ signal: AbortSignal.abort() })) expect.fail("a batch");

      const waiting = new AbortController();
      for await (const { caughtUp } of store.subscribe({ signal: waiting.signal })) {
        if (caughtUp) setImmediate(() => waiting.abort());
      }

      const between = new AbortController();
      let batches = 0;
      for await (const _ of store.subscribe({ signal: between.signal })) {
        batches += 1;
        between.abort();
      }
      expect(batches).to.equal(1);
    },
  );

  rule("ends a waiting `next` when the consumer leaves", async ({ store }) => {
    const batches = store.subscribe()[Symbol.asyncIterator]();
    await batches.next();
    const waiting = batches.next();
    await batches.return?.();
    expect((await waiting).done).to.equal(true);
    expect((await batches.next()).done).to.equal(true);
  });
};
