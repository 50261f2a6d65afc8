import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { eventDigest } from "../../../src/domain/ledger/journal/canonical.ts";
import { JournalTakenOver, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import type { Serving, VoidedServing } from "../../../src/domain/ledger/journal/serving.ts";
import { OutcomeUnknown } from "../../../src/eventstore/command-handler.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import type { FlushedEvent, LostEntries } from "../../../src/ledger/journal/journal-flush.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import type { JournalWriterOptions } from "../../../src/ledger/journal/journal-writer-options.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { type JournalEntries, readJournal } from "../../support/read-journal.ts";
import { serving, voided } from "../../support/servings.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { type DisturbedStore, disturbedStore } from "../disturbed-store.ts";

const journal = "0193-a";
const start = Date.parse("2026-11-05T10:00:00.000Z");
const deadlineMs = 5_000;
const never = 10 ** 9;

describe("the writer of a journal", () => {
  const temporary = duringTest(openTemporaryStore);
  let store: DisturbedStore;
  let time: ManualTime;
  let now: number;
  let flushed: FlushedEvent[];
  let takenBack: VoidedServing[];
  let lost: LostEntries[];

  beforeEach(async () => {
    store = disturbedStore(temporary.store);
    time = createManualTime();
    now = start;
    flushed = [];
    takenBack = [];
    lost = [];
  });

  const createWriter = (options: Partial<JournalWriterOptions> = {}): JournalWriter =>
    new JournalWriter({
      store,
      journal,
      clock: () => now,
      time,
      deadlineMs,
      onFlushed: (events) => flushed.push(...events),
      onVoided: (one) => takenBack.push(one),
      onTakenOver: (entries) => lost.push(entries),
      ...options,
    });

  /** Resolves with the time of the serving's event. */
  const serve = (writer: JournalWriter, one: Serving = serving()): Promise<string> =>
    new Promise((resolve, reject) => {
      writer.addServing(one, keyNumberOf(one.apiKey), (error, at) => (error ? reject(error) : resolve(at)));
    });

  const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => "success",
      (error) => error,
    );

  const numbered = (count: number, changes: Partial<Serving> = {}): Serving[] =>
    Array.from({ length: count }, (_, index) => serving({ requestId: `r-${index}`, ...changes }));

  const read = (): Promise<JournalEntries[]> => collect(readJournal(temporary.store, journal));
  const requestIds = async () =>
    (await read()).flatMap(({ servings }) => servings.map(({ requestId }) => requestId));
  const stored = () => collect(temporary.store.readStream(journalStream(journal)));
  const types = async () => (await stored()).map(({ type }) => type);

  /** A store that does not recognise repeated ids. */
  const forgetful = (): typeof store => ({
    ...store,
    append: async (...append: Parameters<typeof store.append>) => {
      const [stream, events, expected] = append;
      const known = new Set((await stored()).map(({ id }) => id));
      const isRepeat = events.some(({ id }) => known.has(id));
      return store.append(
        stream,
        isRepeat ? events.map((event) => ({ ...event, id: crypto.randomUUID() })) : events,
        expected,
      );
    },
  });

  /** Advances the time until the promise settles. */
  const whileTimePasses = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    while (!isSettled) {
      time.advance(10);
      await setImmediate();
    }
    return promise;
  };

  it("appends few servings of a turn of the event loop as one event", async () => {
    const writer = createWriter();
    const times = await Promise.all(numbered(31).map((one) => serve(writer, one)));
    expect(store.appends).to.equal(1);
    expect(new Set(times)).to.deep.equal(new Set(["2026-11-05T10:00:00.000Z"]));
    expect(await requestIds()).to.deep.equal(numbered(31).map(({ requestId }) => requestId));
    expect(writer.pending).to.equal(0);
  });

  it("appends many servings in two halves, in order", async () => {
    const writer = createWriter();
    await Promise.all(numbered(301).map((one) => serve(writer, one)));
    expect((await read()).map(({ servings }) => servings.length)).to.deep.equal([151, 150]);
    expect(await requestIds()).to.deep.equal(numbered(301).map(({ requestId }) => requestId));
  });

  it("divides the requests of clients that wait for their responses into halves", async () => {
    const writer = createWriter();
    const clients = 100;
    let left = 2_000;
    const request = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await serve(writer, serving({ requestId: `r-${left}` }));
      }
    };
    store.hold();
    const served = [request()];
    await until(() => store.held === 1);
    for (let client = 1; client < clients; client++) served.push(request());
    store.release();
    await Promise.all(served);
    const sizes = (await read()).map(({ servings }) => servings.length);
    const middle = sizes.slice(2, -2);
    expect(middle.length).to.be.above(30);
    expect(new Set(middle)).to.deep.equal(new Set([clients / 2]));
  });

  it("collects what is added while an append is in flight into the next one", async () => {
    const writer = createWriter();
    store.hold();
    const first = serve(writer, serving({ requestId: "first" }));
    await until(() => store.held === 1);
    const others = numbered(3).map((one) => serve(writer, one));
    await setImmediate();
    expect(store.held).to.equal(1);
    expect(writer.pending).to.equal(4);
    store.release();
    await Promise.all([first, ...others]);
    expect(await types()).to.deep.equal(["SynthesesServed", "SynthesesServed"]);
    expect(store.appends).to.equal(2);
  });

  it("links each event to its predecessor, and reports each with its revision and digest", async () => {
    const writer = createWriter();
    await serve(writer);
    writer.addVoids([voided(serving(), "2026-11-05T10:00:00.000Z")]);
    writer.addStreamEnd({
      apiKey: "vlk_1",
      requestId: "r-1",
      hash: "ab",
      outcome: "whole",
      bytes: 4,
      chunks: 1,
    });
    writer.notePosted(0);
    await serve(writer);
    await writer.close("shutdown");
    const events = await stored();
    expect(events.map(({ type }) => type)).to.deep.equal([
      "SynthesesServed",
      "SynthesesServed",
      "ServingsVoided",
      "StreamsEnded",
      "JournalPosted",
      "JournalClosed",
    ]);
    const digests = events.map(eventDigest);
    expect(events.map(({ data }) => (data as { previous: string }).previous)).to.deep.equal([
      null,
      ...digests.slice(0, -1),
    ]);
    expect(flushed.map(({ digest }) => digest)).to.deep.equal(digests);
    expect(flushed.map(({ revision }) => revision)).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(flushed.map(({ type, data }) => ({ type, data }))).to.deep.equal(
      events.map(({ type, data }) => ({ type, data })),
    );
    expect(takenBack.map(({ requestId }) => requestId)).to.deep.equal(["r-1"]);
  });

  it("hands over the numbers of the keys, in the order of the event's keys", async () => {
    const writer = createWriter();
    const apiKeys = ["k-2", "k-1", "k-2", "k-3"];
    await Promise.all(
      apiKeys.map((apiKey, index) => serve(writer, serving({ apiKey, requestId: `${index}` }))),
    );
    const numbers = ["k-2", "k-1", "k-3"].map(keyNumberOf);
    expect(flushed.map(({ keyNumbers }) => keyNumbers)).to.deep.equal([numbers]);
  });

  it("keeps its flushes below the size, and does not delay voids behind servings", async () => {
    const maxFlushBytes = 20_000;
    const writer = createWriter({ maxFlushBytes });
    const hashes = Array.from({ length: 600 }, (_, index) => index.toString(16).padStart(64, "0"));
    const all = Promise.all(
      hashes.map((hash, index) => serve(writer, serving({ requestId: `r-${index}`, hash }))),
    );
    writer.addVoids(hashes.map((hash) => voided(serving({ hash }), "2026-11-05T10:00:00.000Z")));
    await all;
    await writer.flushed();
    const sizes = new Map<string, number>();
    const positions = flushed.map(({ position }) => String(position));
    for (const [index, { type, data }] of (await stored()).entries()) {
      const flush = positions[index] ?? "";
      sizes.set(flush, (sizes.get(flush) ?? 0) + Buffer.byteLength(JSON.stringify({ type, data })));
    }
    expect(Math.max(...sizes.values()))
      .to.be.below(maxFlushBytes)
      .and.above(maxFlushBytes / 2);
    expect((await types()).slice(0, 2)).to.deep.equal(["SynthesesServed", "ServingsVoided"]);
    expect(await requestIds()).to.have.length(600);
    expect(takenBack).to.have.length(600);
  });

  describe("when the store does not respond", () => {
    it("repeats the append with the same ids, so that nothing is doubled", async () => {
      const writer = createWriter({ deadlineMs: never });
      store.disturb("refused", "answer lost", "refused", "answer lost");
      await whileTimePasses(serve(writer));
      expect(store.appends).to.be.at.least(3);
      await serve(writer, serving({ requestId: "r-2" }));
      expect(await requestIds()).to.deep.equal(["r-1", "r-2"]);
    });

    it("refuses a serving that was not sent before its deadline, and never appends it", async () => {
      const writer = createWriter();
      store.hold();
      const sent = failureOf(serve(writer, serving({ requestId: "sent" })));
      await until(() => store.held === 1);
      const waiting = failureOf(serve(writer, serving({ requestId: "waiting" })));
      time.advance(deadlineMs);
      expect(await waiting)
        .to.be.instanceOf(Unavailable)
        .and.not.instanceOf(OutcomeUnknown);
      expect(await sent).to.be.instanceOf(OutcomeUnknown);
      store.release();
      await writer.flushed();
      expect(await requestIds()).to.deep.equal(["sent"]);
    });

    it("voids a serving that became durable after its deadline", async () => {
      const writer = createWriter();
      store.hold();
      const late = failureOf(serve(writer, serving({ requestId: "late" })));
      await until(() => store.held === 1);
      time.advance(deadlineMs);
      expect(await late).to.be.instanceOf(OutcomeUnknown);
      store.release();
      await until(() => takenBack.length === 1);
      expect((await read()).flatMap(({ voided: voids }) => voids)).to.deep.equal([
        voided(serving({ requestId: "late" }), "2026-11-05T10:00:00.000Z"),
      ]);
    });

    it("refuses a serving when too many wait, and calls back only after the method has returned", async () => {
      const writer = createWriter({ maxPending: 2 });
      store.hold();
      const two = numbered(2).map((one) => serve(writer, one));
      let isCalled = false;
      const third = new Promise((resolve) =>
        writer.addServing(serving(), 0, (error) => {
          isCalled = true;
          resolve(error);
        }),
      );
      expect(isCalled).to.equal(false);
      expect(await third).to.be.instanceOf(Unavailable);
      store.release();
      await Promise.all(two);
    });
  });

  describe("when another process closes the journal", () => {
    it("fails servings that are not durable with JournalTakenOver, and passes on the voids", async () => {
      const writer = createWriter();
      await serve(writer);
      await closeJournal(temporary.store, () => now, journal, "silent");
      writer.addVoids([voided(serving(), "2026-11-05T10:00:00.000Z")]);
      const failures = numbered(3).map((one) => failureOf(serve(writer, one)));
      for (const failure of failures) expect(await failure).to.be.instanceOf(JournalTakenOver);
      expect(lost).to.deep.equal([
        { voids: [{ ...voided(serving(), "2026-11-05T10:00:00.000Z"), journal }], streams: [] },
      ]);
      expect(await failureOf(serve(writer))).to.be.instanceOf(JournalTakenOver);
      expect(() => writer.addVoids([])).to.throw(JournalTakenOver);
      expect(await types()).to.deep.equal(["SynthesesServed", "JournalClosed"]);
    });

    it("confirms servings of a flush that had become durable before, and fails the others", async () => {
      const writer = createWriter({ deadlineMs: never });
      store.disturb("answer lost");
      const first = serve(writer, serving({ requestId: "first" }));
      await until(() => time.waiting() === 2);
      await closeJournal(temporary.store, () => now, journal, "silent");
      const second = failureOf(serve(writer, serving({ requestId: "second" })));
      await whileTimePasses(first);
      expect(await whileTimePasses(second)).to.be.instanceOf(JournalTakenOver);
      expect(await requestIds()).to.deep.equal(["first"]);
      expect(flushed.map(({ type }) => type)).to.deep.equal(["SynthesesServed"]);
    });

    it("recognises its own events before the closing one if the store has forgotten their ids", async () => {
      const writer = createWriter({ store: forgetful(), deadlineMs: never });
      store.disturb("answer lost");
      const first = serve(writer, serving({ requestId: "first" }));
      await until(() => time.waiting() === 2);
      await closeJournal(temporary.store, () => now, journal, "silent");
      await whileTimePasses(first);
      expect(lost).to.have.length(1);
      expect(flushed.map(({ revision, type }) => [revision, type])).to.deep.equal([[0, "SynthesesServed"]]);
    });

    it("passes on the void of a serving that became durable after its deadline and before the closing", async () => {
      const writer = createWriter();
      store.disturb("answer lost", "refused");
      const late = failureOf(serve(writer, serving({ requestId: "late" })));
      await until(() => time.waiting() === 2);
      await closeJournal(temporary.store, () => now, journal, "silent");
      time.advance(deadlineMs);
      expect(await late).to.be.instanceOf(OutcomeUnknown);
      await whileTimePasses(until(() => lost.length === 1));
      expect(lost[0]?.voids).to.deep.equal([
        { ...voided(serving({ requestId: "late" }), "2026-11-05T10:00:00.000Z"), journal },
      ]);
    });

    it("waits until the closing event is readable", async () => {
      const writer = createWriter({ deadlineMs: never });
      await closeJournal(temporary.store, () => now, journal, "silent");
      store.readsFail = true;
      const failure = failureOf(serve(writer));
      await until(() => time.waiting() === 2);
      expect(lost).to.deep.equal([]);
      store.readsFail = false;
      expect(await whileTimePasses(failure)).to.be.instanceOf(JournalTakenOver);
      expect(await writer.close("shutdown")).to.equal(0);
    });
  });

  describe("at the turn of a month", () => {
    const lastOfNovember = Date.parse("2026-11-30T23:59:59.999Z");

    it("keeps the month that it has reported for the rest of the turn of the event loop", async () => {
      const writer = createWriter();
      now = lastOfNovember;
      expect(writer.month()).to.equal("2026-11");
      now += 1;
      const first = serve(writer);
      expect(writer.month()).to.equal("2026-11");
      expect(await first).to.equal("2026-11-30T23:59:59.999Z");
      expect(writer.month()).to.equal("2026-12");
    });

    it("appends the servings of the old month first, with a time of that month", async () => {
      const writer = createWriter();
      store.hold();
      const first = serve(writer);
      await until(() => store.held === 1);
      now = lastOfNovember;
      const old = serve(writer);
      await setImmediate();
      now += 10;
      const young = serve(writer);
      store.release();
      expect(await Promise.all([first, old, young])).to.deep.equal([
        "2026-11-05T10:00:00.000Z",
        "2026-11-30T23:59:59.999Z",
        "2026-12-01T00:00:00.009Z",
      ]);
    });

    it("never goes backwards, neither in its times nor in its months, when the clock does", async () => {
      const writer = createWriter();
      now = lastOfNovember + 1;
      expect(writer.month()).to.equal("2026-12");
      await setImmediate();
      now -= 60_000;
      expect(writer.month()).to.equal("2026-12");
      expect(await serve(writer)).to.equal("2026-12-01T00:00:00.000Z");
      now = start;
      expect(await serve(writer)).to.equal("2026-12-01T00:00:00.000Z");
    });
  });

  describe("when it is closed", () => {
    it("appends the waiting entries and then JournalClosed, and refuses later entries", async () => {
      const writer = createWriter();
      const last = serve(writer);
      const closing = writer.close("idle");
      expect(await failureOf(serve(writer))).to.be.instanceOf(JournalTakenOver);
      expect(() =>
        writer.addStreamEnd({ apiKey: "", requestId: "", hash: "", outcome: "left", bytes: 0, chunks: 0 }),
      ).to.throw(JournalTakenOver);
      await last;
      expect(await closing).to.equal(1);
      expect(await writer.close("shutdown")).to.equal(1);
      writer.notePosted(1);
      await writer.flushed();
      expect((await stored()).at(-1)).to.deep.include({ type: "JournalClosed", revision: 1 });
      expect(lost).to.deep.equal([]);
    });

    it("appends nothing to a journal without events", async () => {
      const writer = createWriter();
      expect(await writer.close("idle")).to.equal(-1);
      expect(await stored()).to.deep.equal([]);
      expect(await failureOf(serve(writer))).to.be.instanceOf(JournalTakenOver);
    });

    it("recognises its own closing event, and is not taken over by it", async () => {
      const writer = createWriter({ store: forgetful(), deadlineMs: never });
      await serve(writer);
      store.disturb("answer lost");
      expect(await whileTimePasses(writer.close("idle"))).to.equal(1);
      expect(await types()).to.deep.equal(["SynthesesServed", "JournalClosed"]);
      expect(lost).to.deep.equal([]);
    });

    it("resolves with the last revision if another process has closed the journal", async () => {
      const writer = createWriter();
      await serve(writer);
      await closeJournal(temporary.store, () => now, journal, "unresponsive");
      expect(await writer.close("shutdown")).to.equal(1);
      expect(lost).to.deep.equal([{ voids: [], streams: [] }]);
    });
  });

  it("resolves flushed() when everything added before is durable, regardless of later entries", async () => {
    const writer = createWriter();
    await writer.flushed();
    store.hold();
    void serve(writer);
    await until(() => store.held === 1);
    const flushing = writer.flushed();
    const later = serve(writer, serving({ requestId: "later" }));
    store.release();
    store.hold();
    await flushing;
    expect(await requestIds()).to.deep.equal(["r-1"]);
    store.release();
    await later;
  });

  it("continues after a permanent error of the store", async () => {
    const errors: unknown[] = [];
    const broken = new TypeError("an event's data must be a plain JSON object");
    let breaks = true;
    const writer = createWriter({
      store: {
        ...store,
        append: (...append) => {
          if (!breaks) return store.append(...append);
          breaks = false;
          return Promise.reject(broken);
        },
      },
      onError: (error) => errors.push(error),
    });
    expect(await failureOf(serve(writer))).to.equal(broken);
    expect(errors).to.deep.equal([broken]);
    await serve(writer, serving({ requestId: "r-2" }));
    expect(await requestIds()).to.deep.equal(["r-2"]);
  });

  it("returns the characters of a serving whose deadline passed before the store refused its flush for good", async () => {
    const refused = Promise.withResolvers<never>();
    const writer = createWriter({ store: { ...store, append: () => refused.promise } });
    const failure = failureOf(serve(writer, serving({ requestId: "r-1", characters: 7 })));
    await until(() => writer.pending === 1 && time.waiting() > 0);
    await setImmediate();
    time.advance(deadlineMs);
    expect(await failure).to.be.instanceOf(OutcomeUnknown);
    expect(takenBack).to.deep.equal([]);
    refused.reject(new TypeError("an event's data must be a plain JSON object"));
    await writer.flushed();
    expect(takenBack).to.have.length(1);
    expect(takenBack[0]).to.include({
      requestId: "r-1",
      characters: 7,
      servedAt: new Date(start).toISOString(),
    });
  });

  it("repeats voids and ends of streams alone after a permanent error of the store, and closes after them", async () => {
    const errors: unknown[] = [];
    let refusals = 3;
    const appended: string[][] = [];
    const writer = createWriter({
      store: {
        ...store,
        append: (stream, events, expected) => {
          appended.push(events.map(({ type }) => type));
          const hasBackground = events.some(({ type }) => type !== "SynthesesServed");
          return hasBackground && refusals-- > 0
            ? Promise.reject(new RangeError("the append exceeds the event store's size limit"))
            : store.append(stream, events, expected);
        },
      },
      onError: (error) => errors.push(error),
    });
    const at = await serve(writer, serving({ requestId: "r-1" }));
    writer.addVoids([voided(serving({ requestId: "r-1" }), at)]);
    writer.addStreamEnd({
      apiKey: "vlk_1",
      requestId: "r-1",
      hash: "h",
      outcome: "failed",
      bytes: 0,
      chunks: 0,
    });
    writer.notePosted(0);
    expect(await failureOf(serve(writer, serving({ requestId: "r-2" })))).to.be.instanceOf(RangeError);
    await serve(writer, serving({ requestId: "r-3" }));
    expect(writer.pending).to.equal(2);
    expect(writer.backgroundEntries).to.equal(2);
    const closed = writer.close("shutdown");
    await whileTimePasses(writer.flushed());
    expect(await whileTimePasses(closed)).to.equal(5);
    expect(await requestIds()).to.deep.equal(["r-1", "r-3"]);
    const background = ["ServingsVoided", "StreamsEnded", "JournalPosted"];
    expect(appended).to.deep.equal([
      ["SynthesesServed"],
      ["SynthesesServed", ...background],
      ["SynthesesServed"],
      background,
      background,
      background,
      ["JournalClosed"],
    ]);
    expect(takenBack.map(({ requestId }) => requestId)).to.deep.equal(["r-1"]);
    expect(errors).to.have.length(3);
    expect(writer.pending).to.equal(0);
    expect(writer.backgroundEntries).to.equal(0);
  });

  it("passes entries that the store has refused on to the next journal when another process closes this one", async () => {
    const writer = createWriter({
      store: {
        ...store,
        append: (stream, events, expected) =>
          events.some(({ type }) => type === "ServingsVoided")
            ? Promise.reject(new RangeError("the append exceeds the event store's size limit"))
            : store.append(stream, events, expected),
      },
    });
    const at = await serve(writer);
    writer.addVoids([voided(serving(), at)]);
    await until(() => time.waiting() > 0);
    await closeJournal(temporary.store, () => now, journal, "silent");
    expect(await failureOf(serve(writer, serving({ requestId: "r-2" })))).to.be.instanceOf(JournalTakenOver);
    expect(lost.flatMap(({ voids }) => voids)).to.deep.equal([{ ...voided(serving(), at), journal }]);
    expect(writer.pending).to.equal(0);
  });

  it("responds to every serving, and continues to write if callbacks throw", async () => {
    const errors: unknown[] = [];
    const fail = (): never => {
      throw new Error("a callback failed");
    };
    const writer = createWriter({ onFlushed: fail, onError: (error) => errors.push(error) });
    writer.addServing(serving({ requestId: "r-1" }), 0, fail);
    await serve(writer, serving({ requestId: "r-2" }));
    await serve(writer, serving({ requestId: "r-3" }));
    expect(await requestIds()).to.deep.equal(["r-1", "r-2", "r-3"]);
    expect(errors).to.have.length(3);
  });
});
