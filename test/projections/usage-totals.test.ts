import { expect } from "chai";
import { type UsageTotals, usageTotals } from "../../projections/usage-totals.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { servingsVoided, synthesesServed } from "../support/build-journal-events.ts";

const fold = (...events: readonly object[]): UsageTotals =>
  events.reduce(
    (totals: UsageTotals, event) => usageTotals.apply(totals, event as RecordedEvent),
    usageTotals.initial(),
  );

const today = "2026-11-05T10:00:00.000Z";

describe("the totals of all keys", () => {
  it("count servings by day, engine and source, and by month and key", () => {
    const totals = fold(
      synthesesServed("2026-10-31T23:59:59.999Z", [{ apiKey: "a", characters: 7 }]),
      synthesesServed(today, [
        { apiKey: "a", characters: 3, cached: "miss" },
        { apiKey: "b", characters: 4, cached: "memory", engine: "oai" },
        { apiKey: "a", characters: 0, cached: "memory" },
      ]),
    );
    expect(totals.days["2026-11-05"]).to.deep.equal({
      engines: { g1: { requests: 2, characters: 3 }, oai: { requests: 1, characters: 4 } },
      served: { miss: { requests: 1, characters: 3 }, memory: { requests: 2, characters: 4 } },
      voided: { requests: 0, characters: 0 },
    });
    expect(totals.months).to.deep.equal({
      "2026-10": { a: { requests: 1, characters: 7 } },
      "2026-11": { a: { requests: 2, characters: 3 }, b: { requests: 1, characters: 4 } },
    });
  });

  it("take a voided serving from its own day and month; a voided repeat stays a request", () => {
    const serving = { apiKey: "a", characters: 5, cached: "store" } as const;
    const voided = {
      apiKey: "a",
      characters: 5,
      engine: "g1",
      servedAt: "2026-10-31T23:00:00.000Z",
    } as const;
    const totals = fold(
      synthesesServed("2026-10-31T23:00:00.000Z", [serving, serving]),
      servingsVoided(today, [voided, { ...voided, reason: "repeat" }]),
    );
    expect(totals.days["2026-10-31"]).to.deep.equal({
      engines: { g1: { requests: 1, characters: 0 } },
      served: { store: { requests: 2, characters: 10 } },
      voided: { requests: 1, characters: 10 },
    });
    expect(totals.months["2026-10"]).to.deep.equal({ a: { requests: 1, characters: 0 } });
  });

  it("keep 63 days and two months, however long the log is", () => {
    let totals = usageTotals.initial();
    for (let day = 0; day < 400; day++) {
      const at = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
      totals = usageTotals.apply(totals, synthesesServed(at, [{ apiKey: "a" }]) as unknown as RecordedEvent);
    }
    expect(Object.keys(totals.days).length).to.equal(63);
    expect(Object.keys(totals.months)).to.deep.equal(["2027-01", "2027-02"]);
  });

  it("ignore the registry of journals", () => {
    expect(usageTotals.partition({ stream: "journals" } as RecordedEvent)).to.equal(undefined);
    expect(usageTotals.partition({ stream: "journal-1" } as RecordedEvent)).to.equal("all");
  });
});
