import { expect } from "chai";
import { type Rate, rate, requestsOnOtherInstances } from "../../projections/rate.ts";
import { rateStream } from "../../src/domain/ledger/rate.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

const minute = 29_000_000;
const start = minute * 60_000;

interface Report {
  readonly instance?: string;
  readonly minute?: number;
  readonly counts?: Record<string, number>;
  readonly created?: number;
}

const report = ({
  instance = "a",
  minute: of = minute,
  counts = { k: 1 },
  created = start,
}: Report): RecordedEvent => ({
  id: "id",
  type: "RequestsCounted",
  stream: rateStream(instance),
  revision: 0,
  position: 1,
  created,
  metadata: {},
  data: { minute: of, keys: Object.keys(counts), counts: Object.values(counts), at: "" },
});

const fold = (...reports: Report[]): Rate => reports.map(report).reduce(rate.apply, rate.initial());
const seenBy = (reader: string, of: number, state: Rate): number =>
  requestsOnOtherInstances(state, rateStream(reader), of, "k");

describe("the rate projection", () => {
  it("sums the counts of the other instances in the reader's minute", () => {
    const state = fold({ counts: { k: 3, l: 9 } }, { instance: "b", counts: { k: 4 } }, { instance: "c" });
    expect(seenBy("c", minute, state)).to.equal(7);
    expect(seenBy("c", minute + 1, state)).to.equal(0);
  });

  it("treats a report as the count so far: repeated and late reports change nothing", () => {
    const state = fold(
      { counts: { k: 2 } },
      { counts: { k: 5 } },
      { counts: { k: 5 } },
      { counts: { k: 2 } },
    );
    expect(seenBy("b", minute, state)).to.equal(5);
  });

  it("keeps the counts of the reader's minute if another instance's clock is ahead", () => {
    const state = fold(
      { counts: { k: 2 } },
      { instance: "fast", counts: { k: 3 } },
      { instance: "fast", minute: minute + 1, counts: { k: 10 } },
      { instance: "far-ahead", minute: minute + 1_000, counts: { k: 10 } },
    );
    expect(seenBy("reader", minute, state)).to.equal(5);
  });

  it("keeps three minutes of each instance", () => {
    const state = fold(...[0, 1, 2, 3].map((n) => ({ minute: minute + n })));
    expect(Object.keys(state.instances["rate-a"]?.minutes ?? {})).to.deep.equal(
      [1, 2, 3].map((n) => String(minute + n)),
    );
  });

  it("removes an instance after five minutes without a report", () => {
    const silent = { instance: "stopped", created: start };
    expect(fold(silent, { created: start + 300_000 }).instances).to.have.all.keys("rate-stopped", "rate-a");
    expect(fold(silent, { created: start + 300_001 }).instances).to.have.all.keys("rate-a");
  });
});
