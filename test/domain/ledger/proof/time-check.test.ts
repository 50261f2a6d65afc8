import { expect } from "chai";
import { createTimeCheck, type Remarks } from "../../../../src/domain/ledger/proof/time-check.ts";

const start = Date.parse("2026-11-05T10:00:00.000Z");
const minute = 60_000;
const hour = 60 * minute;

interface Recorded {
  readonly stream?: string;
  readonly type?: string;
  /** When it was stored, after the start. */
  readonly created: number;
  /** Its own time. Default: when it was stored. */
  readonly at?: number;
  readonly data?: object;
  readonly metadata?: object;
}

const remarksOf = (...events: readonly Recorded[]): Remarks => {
  const check = createTimeCheck();
  for (const [
    position,
    { stream = "website-w", type = "X", created, at = created, data, metadata = {} },
  ] of events.entries()) {
    check.add({
      position,
      stream,
      revision: position,
      id: `id ${position}`,
      type,
      created: start + created,
      data: { at: new Date(start + at).toISOString(), ...data },
      metadata,
    });
  }
  return check.remarks();
};

const seal = (created: number): Recorded => ({ stream: "seals", type: "Sealed", created });

describe("the times of a genuine log", () => {
  it("may differ by what two clocks and a slow append explain", () => {
    expect(remarksOf({ created: 0, at: 130_000 }, { created: 0, at: 10_000 })).to.deep.equal([]);
    expect(remarksOf({ created: 130_000, at: 0 })).to.deep.equal([]);
  });

  it("are a remark if an event was stored more than 130 s before or after its own time", () => {
    const text = "events were stored more than 130 s before or after their own time, the first is website-w";
    expect(remarksOf({ created: 0, at: 130_001 })).to.deep.equal([`1 ${text} revision 0 (X, position 0)`]);
    expect(remarksOf({ created: 0 }, { created: 15 * 24 * hour, at: 0 })).to.deep.equal([
      `1 ${text} revision 1 (X, position 1)`,
    ]);
  });

  it("are no remark if the event says that it has the log's last time, because the clock was wrong", () => {
    expect(remarksOf({ created: 15 * 24 * hour, at: 0, metadata: { clock: "log" } })).to.deep.equal([]);
  });

  it("are a remark if they go back along a stream, by more than two clocks explain", () => {
    const before = { created: 0, at: 125_000 };
    expect(remarksOf(before, { created: 0, at: 5_000 })).to.deep.equal([]);
    expect(remarksOf(before, { created: 0, at: 4_999 }, { created: 0, at: 4_000 })).to.deep.equal([
      "1 events are more than 120 s earlier than the one before in their stream, the first is website-w revision 1 (X, position 1)",
    ]);
    expect(remarksOf(before, { created: 0, at: 0, stream: "website-v" })).to.deep.equal([]);
  });

  it("are a remark if events are recorded for two hours without a seal", () => {
    const events = [0, 30, 60, 90, 120].map((created) => ({ created: created * minute }));
    const late = { created: 121 * minute };
    expect(remarksOf(...events)).to.deep.equal([]);
    expect(remarksOf(...events, late)).to.deep.equal([
      "1 events were recorded although there had been no seal for two hours, the first is website-w revision 5 (X, position 5)",
    ]);
    expect(remarksOf(...events.slice(0, 3), seal(61 * minute), ...events.slice(3), late)).to.deep.equal([]);
  });

  it("are no remark if nothing ran for days", () => {
    expect(
      remarksOf({ created: 0 }, { created: 72 * hour }, { created: 73 * hour }, seal(74 * hour)),
    ).to.deep.equal([]);
  });

  it("begin anew when a wrong clock was corrected, which is the only remark", () => {
    const wrong = 92 * 24 * hour;
    const data = { until: new Date(start + wrong + minute).toISOString(), journals: [] };
    expect(
      remarksOf(
        { created: 0 },
        { created: wrong },
        { stream: "journal-j", created: wrong + minute },
        { stream: "log", type: "ClockCorrected", created: hour, data },
        { created: hour },
        { stream: "journal-j", created: hour, at: wrong + minute },
      ),
    ).to.deep.equal([
      "the clock was corrected at 2026-11-05T11:00:00.000Z: earlier events, those of 0 journals among them, have times up to 2027-02-05T10:01:00.000Z",
    ]);
  });
});
