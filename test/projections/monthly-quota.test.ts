import { expect } from "chai";
import fc from "fast-check";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import type { UsageAccountEvent } from "../../src/domain/ledger/accounts/usage-account.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { accountClosed, anyPostings, usagePosted } from "../support/usage-account-events.ts";
import { recordEvents } from "./fold-events.ts";

const fold = (events: readonly RecordedEvent[]) => events.reduce(monthlyQuota.apply, monthlyQuota.initial());

const recorded = (events: readonly UsageAccountEvent[]): RecordedEvent[] =>
  recordEvents(events.map((event) => ({ stream: "usage-k-2026-11", ...event })));

describe("the monthly quota projection", () => {
  it("is unused before the first posting", () => {
    expect(fold([])).to.include({ status: "open", requests: 0, characters: 0, revision: -1 });
  });

  it("sums up the postings, with voided servings separately", () => {
    const voided = { requests: 1, characters: 4 };
    const events = [
      usagePosted({ requests: 3, characters: 20 }),
      usagePosted({ requests: -1, characters: -4, voided }),
    ];
    const used = { status: "open", requests: 2, characters: 16, voided, revision: 1 };
    expect(fold(recorded(events))).to.deep.include(used);
  });

  it("shows that the month is closed", () => {
    const events = [usagePosted(), accountClosed({ requests: 1, characters: 11 })];
    expect(fold(recorded(events))).to.include({ status: "closed", requests: 1, characters: 11 });
  });

  it("is partitioned by key and month: the stream is the partition", () => {
    const [event] = recorded([usagePosted()]);
    expect(event && monthlyQuota.partition(event)).to.equal("usage-k-2026-11");
  });

  it("ignores unknown events", () => {
    const [event] = recorded([usagePosted()]);
    const unknown = event ? [{ ...event, type: "SomethingNewer" }] : [];
    expect(fold(unknown)).to.deep.equal({ ...monthlyQuota.initial(), revision: 0 });
  });

  it("counts a posting once, however often it is delivered, with and without a snapshot", () => {
    fc.assert(
      fc.property(anyPostings(), fc.nat(), (postings, cut) => {
        const events = recorded(postings);
        const at = cut % (events.length + 1);
        const restored = JSON.parse(JSON.stringify(fold(events.slice(0, at))));
        const delivered = [...events.slice(at), ...events];
        expect(delivered.reduce(monthlyQuota.apply, restored)).to.deep.equal(fold(events));
        const total = postings.reduce((sum, { data }) => sum + data.characters, 0);
        expect(fold(events).characters).to.equal(total);
      }),
    );
  });
});
