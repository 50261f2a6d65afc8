import { expect } from "chai";
import { addRevision, uniteRanges } from "../../../../src/domain/ledger/accounts/revision-ranges.ts";
import {
  addEntries,
  addPosting,
  postedTotals,
  totalsBy,
  UsageSum,
} from "../../../../src/domain/ledger/accounts/usage-sum.ts";
import type { JournalEvent } from "../../../../src/domain/ledger/journal/journal.ts";
import { servingsVoided, streamsEnded, synthesesServed } from "../../../support/build-journal-events.ts";

const at = "2026-11-05T10:00:00.000Z";

const sumsOf = (events: readonly JournalEvent[]) => {
  const sums = new Map<string, UsageSum>();
  const sumOf = (apiKey: string, month: string): UsageSum => {
    const name = `${apiKey} ${month}`;
    const sum = sums.get(name) ?? new UsageSum();
    sums.set(name, sum);
    return sum;
  };
  for (const event of events) addEntries(event, sumOf);
  return sums;
};

describe("the sum of journal entries", () => {
  it("counts requests and characters by key, day, engine and voice", () => {
    const sums = sumsOf([
      synthesesServed(at, [
        { apiKey: "a", characters: 3 },
        { apiKey: "b", characters: 5 },
        { apiKey: "a", characters: 4, engine: "oai", voice: "alloy" },
        { apiKey: "a", characters: 0 },
      ]),
    ]);
    expect([...sums.keys()]).to.deep.equal(["a 2026-11", "b 2026-11"]);
    expect(postedTotals(sums.get("a 2026-11") ?? new UsageSum())).to.deep.equal({
      requests: 3,
      characters: 7,
      voided: { requests: 0, characters: 0 },
      cells: [
        { day: "2026-11-05", engine: "g1", voice: "UK English Female", requests: 2, characters: 3 },
        { day: "2026-11-05", engine: "oai", voice: "alloy", requests: 1, characters: 4 },
      ],
      until: at,
    });
  });

  it("subtracts a voided serving from the month and the day of the serving", () => {
    const later = "2026-12-01T00:00:01.000Z";
    const sums = sumsOf([
      synthesesServed("2026-11-30T23:59:59.000Z", [{ apiKey: "a", characters: 3 }]),
      servingsVoided(later, [{ apiKey: "a", characters: 3, servedAt: "2026-11-30T23:59:59.000Z" }]),
    ]);
    expect([...sums.keys()]).to.deep.equal(["a 2026-11"]);
    expect(postedTotals(sums.get("a 2026-11") ?? new UsageSum())).to.deep.equal({
      requests: 0,
      characters: 0,
      voided: { requests: 1, characters: 3 },
      cells: [],
      until: later,
    });
  });

  it("keeps the request of a serving that was voided as a repeat", () => {
    const sums = sumsOf([
      synthesesServed(at, [{ apiKey: "a", characters: 3 }]),
      servingsVoided(at, [{ apiKey: "a", characters: 3, servedAt: at, reason: "repeat" }]),
    ]);
    const sum = sums.get("a 2026-11");
    expect(sum).to.deep.include({ requests: 1, characters: 0, voided: { requests: 0, characters: 3 } });
  });

  it("does not count the end of a stream, but records its time", () => {
    const sum = sumsOf([streamsEnded(at, ["a"])]).get("a 2026-11");
    expect(sum).to.include({ requests: 0, characters: 0, until: at });
  });

  it("skips the entries of other keys and months", () => {
    const sum = new UsageSum();
    const events = [synthesesServed(at, [{ apiKey: "a", characters: 3 }, { apiKey: "b" }])];
    for (const event of events) addEntries(event, (apiKey) => (apiKey === "a" ? sum : undefined));
    expect(sum).to.include({ requests: 1, characters: 3 });
  });

  it("of postings equals the sum of their entries", () => {
    const events = [
      synthesesServed(at, [{ apiKey: "a", characters: 3 }]),
      synthesesServed(at, [{ apiKey: "a", characters: 4, voice: "constructor" }]),
      servingsVoided(at, [{ apiKey: "a", characters: 3, servedAt: at }]),
    ];
    const posted = new UsageSum();
    for (const event of events) {
      const part = sumsOf([event]).get("a 2026-11") ?? new UsageSum();
      addPosting(posted, postedTotals(part));
    }
    const whole = sumsOf(events).get("a 2026-11") ?? new UsageSum();
    expect(postedTotals(posted)).to.deep.equal(postedTotals(whole));
    expect(totalsBy("voice", posted)).to.deep.equal(totalsBy("voice", whole));
  });

  it("is not changed by its totals by one dimension", () => {
    const served = [..."abc"].map((voice) => ({ apiKey: "a", characters: 3, voice }));
    const sum = sumsOf([synthesesServed(at, served)]).get("a 2026-11") ?? new UsageSum();
    const first = totalsBy("engine", sum);
    expect(first).to.deep.equal([["g1", { requests: 3, characters: 9 }]]);
    expect(totalsBy("engine", sum)).to.deep.equal(first);
  });

  it("gives its totals by one dimension in the order of names, without those that were all voided", () => {
    const served = [..."cab"].map((voice) => ({ apiKey: "a", characters: 3, voice }));
    const events = [
      synthesesServed(at, served),
      servingsVoided(at, [{ apiKey: "a", characters: 3, voice: "b", servedAt: at }]),
    ];
    const sum = sumsOf(events).get("a 2026-11") ?? new UsageSum();
    expect(totalsBy("voice", sum).map(([voice]) => voice)).to.deep.equal(["a", "c"]);
  });

  it("unites ranges of revisions that overlap or adjoin, and no others", () => {
    const united = uniteRanges([
      [11, 12],
      [5, 6],
      [1, 2],
      [3, 3],
      [6, 9],
      [7, 8],
    ]);
    expect(united).to.deep.equal([
      [1, 3],
      [5, 9],
      [11, 12],
    ]);
  });

  it("names revisions as ranges that include short gaps", () => {
    const ranges: number[] = [];
    for (const revision of [3, 3, 4, 12, 21, 30]) addRevision(ranges, revision);
    expect(ranges).to.deep.equal([3, 12, 21, 21, 30, 30]);
  });
});
