import { expect } from "chai";
import { eventDigest } from "../../../../src/domain/ledger/journal/canonical.ts";
import { linkEvents, nearestTimeInMonth } from "../../../../src/domain/ledger/journal/journal.ts";

describe("the events of a journal", () => {
  it("each hold the digest of the event before", () => {
    const at = "2026-11-05T10:00:00.000Z";
    const links = linkEvents(
      [
        (chained) => ({ type: "JournalPosted", data: { ...chained, through: 3 } }),
        (chained) => ({ type: "JournalClosed", data: { ...chained, reason: "idle" } }),
      ],
      { at, previous: "before" },
    );
    const [first, second] = links.map(({ event }) => event);
    expect(first?.data).to.deep.equal({ at, previous: "before", through: 3 });
    expect(second?.data.previous).to.equal(first && eventDigest(first));
    expect(links.map(({ digest }) => digest)).to.deep.equal(links.map(({ event }) => eventDigest(event)));
  });

  it("have the nearest time of the month if the clock shows another month", () => {
    for (const [at, month, nearest] of [
      ["2026-11-05T10:00:00.000Z", "2026-11", "2026-11-05T10:00:00.000Z"],
      ["2026-12-01T00:00:00.000Z", "2026-11", "2026-11-30T23:59:59.999Z"],
      ["2027-01-01T00:00:00.000Z", "2026-12", "2026-12-31T23:59:59.999Z"],
      ["2028-03-01T00:00:00.000Z", "2028-02", "2028-02-29T23:59:59.999Z"],
      ["2026-10-31T23:59:59.000Z", "2026-11", "2026-11-01T00:00:00.000Z"],
    ] as const) {
      expect(nearestTimeInMonth(at, month), `${at} in ${month}`).to.equal(nearest);
    }
  });
});
