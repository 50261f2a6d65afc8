import { expect } from "chai";
import { WrongExpectedRevision } from "../../../src/eventstore/event-store.ts";
import { event, eventsOf, expectConflict, ids, read, readLog, rejectionOf, revisions } from "./events.ts";
import type { Rule } from "./rule.ts";

export const appendRules = (rule: Rule): void => {
  rule("counts a stream's revisions from 0", async ({ store }) => {
    expect((await store.append("s", [event()], "none")).revision).to.equal(0);
    expect((await store.append("s", eventsOf(3), 0)).revision).to.equal(3);
    expect(revisions(await read(store, "s"))).to.deep.equal([0, 1, 2, 3]);
  });

  rule("returns the position of the last event", async ({ store }) => {
    const { position } = await store.append("s", eventsOf(2), "none");
    expect((await read(store, "s")).at(-1)?.position).to.equal(position);
  });

  rule("stores an event unchanged", async ({ store }) => {
    const given = { ...event({ a: [1, { b: null }] }), metadata: { actor: "cli", traceparent: "00-a-b-01" } };
    await store.append("s", [given], "none");
    const [stored] = await read(store, "s");
    const { stream, revision, position, created, ...rest } = stored ?? expect.fail("no event");
    expect(rest).to.deep.equal(given);
    expect([stream, revision, typeof position, typeof created]).to.deep.equal(["s", 0, "number", "number"]);
  });

  rule("stores every JSON value and every text unchanged", async ({ store }) => {
    const data = {
      text: 'quote " backslash \\ newline \n nul \0 line separator \u2028 emoji 🎙️ हिन्दी العربية',
      lone: "\ud83d",
      numbers: [0, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER],
      empty: [{}, [], "", null, false],
      'odd "key" %': { __proto__x: 1 },
    };
    await store.append("s", [{ ...event(data), type: 'Type "with" quotes 🎧' }], "none");
    const [stored] = await read(store, "s");
    expect(stored?.data).to.deep.equal(data);
    expect(stored?.type).to.equal('Type "with" quotes 🎧');
  });

  rule("distinguishes streams with unusual names", async ({ store }) => {
    const names = [
      "a",
      "A",
      "a%",
      "a_",
      "a*",
      "a'b",
      'a"b',
      "a\\b",
      "a b",
      "ä",
      "a\u0308",
      "声",
      "🎙️",
      "a;--",
      "a/../b",
      "tab\t line\n",
    ];
    for (const name of names) await store.append(name, [event({ name })], "none");
    for (const name of names) {
      const events = await read(store, name);
      expect(events.map(({ stream, data }) => [stream, data])).to.deep.equal([[name, { name }]]);
    }
  });

  rule("with `none`, refuses a stream that has events", async ({ store }) => {
    await store.append("s", eventsOf(2), "none");
    await expectConflict(store.append("s", [event()], "none"), 1);
  });

  rule("with a revision, refuses any other last revision", async ({ store }) => {
    await store.append("s", eventsOf(3), "none");
    await expectConflict(store.append("s", [event()], 1), 2);
    await expectConflict(store.append("s", [event()], 3), 2);
    expect((await store.append("s", [event()], 2)).revision).to.equal(3);
  });

  rule("with a revision, refuses a stream that does not exist", async ({ store }) => {
    await expectConflict(store.append("s", [event()], 0), -1);
  });

  rule("with `any`, accepts an append at any revision", async ({ store }) => {
    await store.append("s", [event()], "any");
    expect((await store.append("s", [event()], "any")).revision).to.equal(1);
  });

  rule("stores no event of a refused append", async ({ store }) => {
    await store.append("s", [event()], "none");
    await expectConflict(store.append("s", eventsOf(5), 7), 0);
    expect(await readLog(store)).to.have.length(1);
  });

  rule("reports the stream, the expected and the actual revision of a conflict", async ({ store }) => {
    await store.append("s", [event()], "none");
    const error = await rejectionOf(() => store.append("s", [event()], 4));
    expect(error).to.be.instanceOf(WrongExpectedRevision);
    expect(error).to.include({ stream: "s", expected: 4, actual: 0 });
  });

  rule("accepts exactly one of many concurrent appends at the same revision", async ({ store }) => {
    await store.append("s", [event()], "none");
    const outcomes = await Promise.allSettled(eventsOf(50).map((one) => store.append("s", [one], 0)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).to.be.instanceOf(WrongExpectedRevision);
    }
    expect(await read(store, "s")).to.have.length(2);
  });

  rule("accepts exactly one of the concurrent appends of two clients", async ({ store, again }) => {
    const other = await again();
    const appends = [store, other].flatMap((one) =>
      eventsOf(10).map((fact) => one.append("s", [fact], "none")),
    );
    const outcomes = await Promise.allSettled(appends);
    await other.close();
    expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
  });

  rule("accepts concurrent appends to other streams despite a conflict", async ({ store }) => {
    const outcomes = await Promise.allSettled([
      store.append("a", eventsOf(2), "none"),
      store.append("b", eventsOf(2), 9),
      store.append("c", eventsOf(2), "none"),
    ]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    expect((await readLog(store)).map(({ stream }) => stream)).to.deep.equal(["a", "a", "c", "c"]);
  });

  rule("keeps the order of concurrent appends of one caller", async ({ store }) => {
    const events = eventsOf(200);
    await Promise.all(events.map((one) => store.append("s", [one], "any")));
    expect(ids(await read(store, "s"))).to.deep.equal(ids(events));
  });

  rule("assigns increasing positions over all streams", async ({ store }) => {
    for (const stream of ["a", "b", "a"]) await store.append(stream, eventsOf(3), "any");
    const positions = (await readLog(store)).map(({ position }) => position);
    expect(positions).to.have.length(9);
    expect(positions).to.deep.equal([...new Set(positions)].sort((a, b) => a - b));
  });

  rule("assigns times that never decrease, also when its clock is set back", async ({ store, advance }) => {
    for (const [stream, step] of Object.entries({ a: 0, b: 60_000, c: -120_000, d: 0 })) {
      advance(step);
      await store.append(stream, eventsOf(3), "any");
    }
    const times = (await readLog(store)).map(({ created }) => created);
    expect(times).to.have.length(12);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
  });

  rule(
    "refuses data that is not a JSON object, without an effect on concurrent appends",
    async ({ store }) => {
      const cycle: { self?: object } = {};
      cycle.self = cycle;
      for (const data of [{ big: 1n }, cycle, [1], new Date(0), null as unknown as object]) {
        const neighbour = store.append("s", [event()], "any");
        expect(await rejectionOf(() => store.append("s", [event(), event(data)], "any"))).to.be.instanceOf(
          TypeError,
        );
        await neighbour;
      }
      expect(await read(store, "s")).to.have.length(5);
    },
  );

  rule("refuses an event of more than 1 MiB", async ({ store }) => {
    const tooLong = event({ text: "x".repeat(1024 * 1024) });
    expect(await rejectionOf(() => store.append("s", [tooLong], "any"))).to.be.instanceOf(RangeError);
    await store.append("s", [event({ text: "x".repeat(1000 * 1024) })], "any");
  });

  rule("refuses an append without events, and one that contains an id twice", async ({ store }) => {
    const one = event();
    expect(await rejectionOf(() => store.append("s", [], "any"))).to.be.instanceOf(TypeError);
    expect(await rejectionOf(() => store.append("s", [one, one], "any"))).to.be.instanceOf(TypeError);
  });
};
