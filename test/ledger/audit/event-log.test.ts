import { expect } from "chai";
import { Invalid, NotFound, Unavailable } from "../../../src/domain/errors.ts";
import type { SubscribeOptions } from "../../../src/eventstore/event-store.ts";
import { createCountEvents } from "../../../src/ledger/audit/event-counts.ts";
import { createEventLog, type EventLog, type EventsRequest } from "../../../src/ledger/audit/event-log.ts";
import { positionBefore } from "../../../src/ledger/audit/log-period.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { duringTest } from "../../support/during.ts";
import { append, busyMonth, issued } from "../../support/logged-events.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { countSubscriptions } from "../../support/subscription-counter.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const sealOf = (position: number, at: string) => ({
  stream: "seals",
  type: "Sealed",
  data: { position, journals: [], size: 1, edge: [], note: "", at },
});

describe("the event log, in pages", () => {
  const temporary = duringTest(openTemporaryStore);
  let time: ManualTime;
  let eventLog: EventLog;

  beforeEach(async () => {
    time = createManualTime();
    eventLog = createEventLog({ store: temporary.store, time });
    await append(temporary.store, busyMonth(300));
  });

  const { signal } = new AbortController();
  const page = (request: Partial<EventsRequest> = {}) => eventLog.page({ limit: 100, signal, ...request });
  const placeOf = (next = ""): { position: number; index?: number } => {
    const [position, index] = next.split(".").map(Number);
    return { position: position as number, ...(index !== undefined && { index }) };
  };
  const all = async (request: Partial<EventsRequest> = {}) => {
    const first = await page(request);
    const entries = [...first.entries];
    let last = first;
    while (!last.caughtUp) {
      last = await page({ ...request, after: placeOf(last.next) });
      entries.push(...last.entries);
    }
    return entries;
  };

  it("has every entry once, whatever the size of its pages, without the counters of requests", async () => {
    const whole = await page({ limit: 500 });
    expect(whole.caughtUp).to.equal(true);
    expect(whole.entries.some(({ stream }) => stream.startsWith("rate-"))).to.equal(false);
    for (const limit of [1, 7, 100]) expect(await all({ limit })).to.deep.equal(whole.entries);
  });

  it("continues within an event that has several entries", async () => {
    const { entries } = await page({ limit: 500, type: "SynthesisServed" });
    const rest = await page({
      limit: 500,
      type: "SynthesisServed",
      after: { position: entries[0]?.position ?? 0, index: 0 },
    });
    expect(rest.entries).to.deep.equal(entries.slice(1));
  });

  it("filters by key, stream, type and time", async () => {
    const ofKey = await all({ apiKey: "ab" });
    expect(new Set(ofKey.map(({ stream }) => stream))).to.deep.equal(new Set(["key-ab", "journal-j1"]));
    expect(await all({ stream: "key-" })).to.have.length(4);
    expect(await all({ type: "WebsiteConfigured" })).to.not.be.empty;
    const timed = await all({ from: "2026-10-01T01:00:00Z", to: "2026-10-01T02:00:00Z" });
    expect(new Set(timed.map(({ at }) => at.slice(11, 13)))).to.deep.equal(new Set(["01"]));
    expect(await rejection(page({ from: "yesterday" }))).to.be.instanceOf(Invalid);
  });

  it("reads of one key only what its streams and journals name, in pages of any size", async () => {
    const counter = countSubscriptions(temporary.store);
    eventLog = createEventLog({ store: counter, time });
    const whole = (await page({ limit: 500 })).entries.filter(
      ({ stream, data }) => stream === "key-ab" || Object(data).apiKey === "ab",
    );
    const delivered = counter.delivered;
    for (const limit of [1, 7, 500]) expect(await all({ limit, apiKey: "ab" })).to.deep.equal(whole);
    const filter = {
      apiKey: "ab",
      type: "SynthesisServed",
      from: "2026-10-01T01:00:00Z",
      to: "2026-10-01T02:00:00Z",
    };
    const expected = whole.filter(
      ({ type, at }) => type === filter.type && at.slice(0, 13) === "2026-10-01T01",
    );
    expect(await all({ ...filter, limit: 3 })).to.deep.equal(expected);
    expect(counter.delivered).to.equal(delivered);
    expect(await rejection(page({ apiKey: "unknown" }))).to.be.instanceOf(NotFound);
  });

  it("waits at the end of the log for the next entry", async () => {
    const end = await page({ limit: 500 });
    const waiting = page({ after: placeOf(end.next), waitMs: 1_000 });
    await until(() => time.waiting() === 1);
    await append(temporary.store, issued("later").slice(0, 1));
    expect((await waiting).entries.map(({ stream }) => stream)).to.deep.equal(["key-later"]);
    expect(time.waiting()).to.equal(0);
  });

  it("returns no entries when the time is over, or the service shuts down", async () => {
    const end = await page({ limit: 500 });
    const waiting = page({ after: placeOf(end.next), waitMs: 1_000 });
    await until(() => time.waiting() === 1);
    time.advance(1_000);
    expect(await waiting).to.deep.include({ entries: [], next: end.next });
    const stopped = page({ after: placeOf(end.next), waitMs: 1_000 });
    await until(() => time.waiting() === 1);
    await eventLog.drain();
    expect((await stopped).entries).to.deep.equal([]);
  });

  it("starts at the last seal that is well before the time, by its own clock and by the store's", async () => {
    let now = Date.parse("2026-10-01T00:00:00Z");
    const { store, remove } = await openTemporaryStore(() => now);
    const found = (time: string) => positionBefore(store, Date.parse(time));
    try {
      expect(await found("2026-10-01T00:00:00Z")).to.equal(undefined);
      const hours = ["2026-10-01T01:00:00Z", "2026-10-01T02:00:00Z", "2026-10-01T03:00:00Z"];
      for (const [index, at] of hours.entries()) {
        now = Date.parse(at);
        await append(store, [sealOf(60 * (index + 1), at)]);
      }
      expect(await found("2026-10-01T00:00:00Z")).to.equal(undefined);
      expect(await found("2026-10-01T01:04:00Z")).to.equal(undefined);
      expect(await found("2026-10-01T01:05:00Z")).to.equal(60);
      expect(await found("2026-10-01T02:30:00Z")).to.equal(120);
      expect(await found("2027-01-01T00:00:00Z")).to.equal(180);
      now = Date.parse("2026-10-01T05:00:00Z");
      await append(store, [sealOf(300, "2026-10-01T03:30:00Z")]); // by a process whose clock is behind
      expect(await found("2026-10-01T04:30:00Z")).to.equal(180);
    } finally {
      await remove();
    }
  });

  it("counts the entries of each minute by type, with the positions of its events", async () => {
    const countEvents = createCountEvents({
      store: temporary.store,
      queue: createReportQueue({ time }),
    });
    const period = { from: "2026-10-01T01:00:00Z", to: "2026-10-01T03:00:00Z" };
    const { minutes, entries } = await countEvents({ ...period, signal });
    const expected = await all(period);
    expect(entries).to.equal(expected.length);
    expect(minutes.reduce((sum, minute) => sum + minute.entries, 0)).to.equal(expected.length);
    expect(minutes[0]).to.include({
      first: expected[0]?.position,
      minute: `${expected[0]?.at.slice(0, 16)}:00.000Z`,
    });
    const ofType = await countEvents({ ...period, type: "SynthesisServed", signal });
    expect(ofType.minutes.every(({ byType }) => Object.keys(byType).join() === "SynthesisServed")).to.equal(
      true,
    );
    for (const to of ["2026-10-03", period.from, "2026-09-30"])
      expect(await rejection(countEvents({ ...period, to, signal })), to).to.be.instanceOf(Invalid);
  });

  it("is counted once at a time, and refuses further counts when four are waiting", async () => {
    const store = countSubscriptions(temporary.store);
    let mostOpen = 0;
    const subscribe = (options?: SubscribeOptions) => {
      mostOpen = Math.max(mostOpen, store.open + 1);
      return store.subscribe(options);
    };
    const observed = { ...store, subscribe };
    const countEvents = createCountEvents({ store: observed, queue: createReportQueue({ time }) });
    const period = { from: "2026-10-01", to: "2026-10-02" };
    const counts = Array.from({ length: 8 }, () => countEvents({ ...period, signal }));
    const refused = (await Promise.allSettled(counts)).filter(({ status }) => status === "rejected");
    expect(refused).to.have.length(3);
    for (const one of refused) {
      expect((one as PromiseRejectedResult).reason).to.be.instanceOf(Unavailable);
    }
    expect(mostOpen).to.equal(1);
  });

  it("refuses to wait for more than fifty requests at once", async () => {
    const { next } = await page({ limit: 500 });
    const wait = () => page({ after: placeOf(next), waitMs: 1_000 });
    const waiting = Array.from({ length: 50 }, wait);
    expect(await rejection(wait())).to.be.instanceOf(Unavailable);
    await append(temporary.store, issued("zz"));
    await Promise.all(waiting);
    expect((await wait()).entries).to.not.be.empty;
  });
});
