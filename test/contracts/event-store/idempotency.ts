import { expect } from "chai";
import type { ExpectedRevision } from "../../../src/eventstore/event-store.ts";
import { event, eventsOf, expectConflict, ids, read } from "./events.ts";
import type { Rule } from "./rule.ts";

export const idempotencyRules = (rule: Rule): void => {
  const cases: [ExpectedRevision, string][] = [
    ["none", "`none`"],
    [1, "a revision"],
    ["any", "`any`"],
  ];
  for (const [expected, name] of cases) {
    rule(`with ${name}, returns the first result and stores nothing`, async ({ store }) => {
      const before = expected === "none" ? [] : eventsOf(2);
      if (before.length > 0) await store.append("s", before, "none");
      const events = eventsOf(3);
      const first = await store.append("s", events, expected);
      expect(await store.append("s", events, expected)).to.deep.equal(first);
      expect(ids(await read(store, "s"))).to.deep.equal(ids([...before, ...events]));
    });

    rule(
      `with ${name}, recognises a repeat after later appends to this stream and others`,
      async ({ store }) => {
        if (expected !== "none") await store.append("s", eventsOf(2), "none");
        const events = eventsOf(3);
        const first = await store.append("s", events, expected);
        await store.append("s", eventsOf(4), "any");
        await store.append("other", eventsOf(4), "any");
        expect(await store.append("s", events, expected)).to.deep.equal(first);
      },
    );

    rule(`with ${name}, recognises a repeat by a client opened later`, async ({ store, again }) => {
      if (expected !== "none") await store.append("s", eventsOf(2), "none");
      const events = eventsOf(3);
      const first = await store.append("s", events, expected);
      await store.close();
      const reopened = await again();
      expect(await reopened.append("s", events, expected)).to.deep.equal(first);
      expect(await read(reopened, "s")).to.have.length(expected === "none" ? 3 : 5);
      await reopened.close();
    });
  }

  rule("stores concurrent repeats once", async ({ store }) => {
    await store.append("other", [event()], "none"); // A driver may send its first append alone.
    const events = eventsOf(2);
    const responses = await Promise.all(Array.from({ length: 10 }, () => store.append("s", events, "none")));
    for (const response of responses) expect(response).to.deep.equal(responses[0]);
    expect(await read(store, "s")).to.have.length(2);
  });

  rule("is a conflict at another revision than the first time", async ({ store }) => {
    const events = eventsOf(2);
    await store.append("s", [event()], "none");
    await store.append("s", events, 0);
    await expectConflict(store.append("s", events, 2), 2);
    await expectConflict(store.append("s", events, "none"), 2);
  });

  rule("is a conflict if only some of the ids are known", async ({ store }) => {
    const [known, unknown] = [event(), event()];
    await store.append("s", [known], "none");
    for (const expected of ["any", "none", 0] as const) {
      await expectConflict(store.append("s", [known, unknown], expected), 0);
      await expectConflict(store.append("s", [unknown, known], expected), 0);
    }
    expect(ids(await read(store, "s"))).to.deep.equal([known.id]);
  });

  rule("is a conflict if the ids are known in another stream", async ({ store }) => {
    const events = eventsOf(2);
    await store.append("s", events, "none");
    await expectConflict(store.append("other", events, "any"), -1);
    await expectConflict(store.append("other", events, "none"), -1);
    expect(await read(store, "other")).to.deep.equal([]);
  });

  rule("is a conflict in another order", async ({ store }) => {
    const events = eventsOf(3);
    await store.append("s", events, "none");
    await expectConflict(store.append("s", events.toReversed(), "any"), 2);
    await expectConflict(store.append("s", events.toReversed(), "none"), 2);
  });

  rule("recognises the first events of an append as a repeat", async ({ store }) => {
    const events = eventsOf(3);
    await store.append("s", events, "none");
    expect((await store.append("s", events.slice(0, 2), "none")).revision).to.equal(1);
    expect(await read(store, "s")).to.have.length(3);
  });

  rule("succeeds after a conflict: the ids of a refused append are unknown", async ({ store }) => {
    const events = eventsOf(2);
    await expectConflict(store.append("s", events, 5), -1);
    expect((await store.append("s", events, "none")).revision).to.equal(1);
  });
};
