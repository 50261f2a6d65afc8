import { expect } from "chai";
import fc from "fast-check";
import { type Dimension, totalsBy, usageTotals } from "../../projections/usage-totals.ts";
import type { SynthesisServed } from "../../src/domain/usage/usage.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { recorded, served, servedInNovember } from "../support/served.ts";

const fold = (events: readonly RecordedEvent[]) => events.reduce(usageTotals.apply, usageTotals.initial());
const totals = (side: Dimension, data: readonly SynthesisServed[]) =>
  totalsBy(side, fold(recorded("k", data)));

describe("the usage totals projection", () => {
  const day1 = "2026-11-01T23:59:59.999Z";
  const day2 = "2026-11-02T00:00:00.000Z";

  it("takes the day from the event's own time in UTC", () => {
    expect(
      totals("day", [served({ at: day2, characters: 5 }), served({ at: day1, characters: 3 })]),
    ).to.deep.equal([
      ["2026-11-01", { requests: 1, characters: 3 }],
      ["2026-11-02", { requests: 1, characters: 5 }],
    ]);
  });

  it("sums each engine and each voice over the days", () => {
    const data = [
      served({ at: day1, engine: "g1", voice: "UK English Female", characters: 3 }),
      served({ at: day2, engine: "g1", voice: "US English Male", characters: 4 }),
      served({ at: day2, engine: "oai", voice: "UK English Female", characters: 5 }),
    ];
    expect(totals("engine", data)).to.deep.equal([
      ["g1", { requests: 2, characters: 7 }],
      ["oai", { requests: 1, characters: 5 }],
    ]);
    expect(totals("voice", data)).to.deep.equal([
      ["UK English Female", { requests: 2, characters: 8 }],
      ["US English Male", { requests: 1, characters: 4 }],
    ]);
  });

  it("equals a plain count in every dimension, for any voice names", () => {
    fc.assert(
      fc.property(fc.array(servedInNovember(), { maxLength: 60 }), (data) => {
        expect(new Map(totals("day", data))).to.deep.equal(plainCount(data, ({ at }) => at.slice(0, 10)));
        expect(new Map(totals("engine", data))).to.deep.equal(plainCount(data, ({ engine }) => engine));
        expect(new Map(totals("voice", data))).to.deep.equal(plainCount(data, ({ voice }) => voice));
      }),
    );
  });

  it("counts an event once, however often it is delivered, with and without a snapshot", () => {
    fc.assert(
      fc.property(fc.array(servedInNovember(), { maxLength: 60 }), fc.nat(), (data, cut) => {
        const events = recorded("k", data);
        const restored = JSON.parse(JSON.stringify(fold(events.slice(0, cut % (events.length + 1)))));
        expect([...events, ...events].reduce(usageTotals.apply, restored)).to.deep.equal(fold(events));
      }),
    );
  });
});

const plainCount = (data: readonly SynthesisServed[], name: (served: SynthesisServed) => string) => {
  const counts = new Map<string, { requests: number; characters: number }>();
  for (const one of data) {
    const { requests, characters } = counts.get(name(one)) ?? { requests: 0, characters: 0 };
    counts.set(name(one), { requests: requests + 1, characters: characters + one.characters });
  }
  return counts;
};
