import { expect } from "chai";
import fc from "fast-check";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { recorded, served, servedInNovember } from "../support/served.ts";
import { voidOf } from "../support/voiding.ts";

const fold = (events: readonly RecordedEvent[]) => events.reduce(monthlyQuota.apply, monthlyQuota.initial());

describe("the monthly quota projection", () => {
  it("is unused before the first serving", () => {
    expect(fold([])).to.deep.equal({ used: 0, requests: 0, keyedAt: 0, revision: -1 });
  });

  it("counts the characters and requests of all servings, and free parts as requests only", () => {
    const events = recorded("k", [
      served({ characters: 7 }),
      served({ characters: 0, partial: true }),
      served({ characters: 35 }),
    ]);
    expect(fold(events)).to.deep.equal({ used: 42, requests: 3, keyedAt: 0, revision: 2 });
  });

  it("subtracts a voided serving: its request and its characters", () => {
    const data = served({ requestId: "r", characters: 7 });
    const [event] = recorded("k", [data]);
    const [[voided], [fence]] = [voidOf(data, data.at), voidOf(undefined, data.at)];
    const events = [voided, fence].map((one, index) => ({ ...event, ...one, revision: 1 + index }));
    expect(fold([event, ...events] as RecordedEvent[])).to.deep.equal({
      used: 0,
      requests: 0,
      keyedAt: 0,
      revision: 2,
    });
  });

  it("has the time of the last use of an Idempotency-Key", () => {
    const idempotency = { key: "k", request: "r" };
    const times = ["2026-11-05T10:00:02.000Z", "2026-11-05T10:00:01.000Z"];
    const events = recorded("k", [...times.map((at) => served({ at, idempotency })), served()]);
    expect(fold(events).keyedAt).to.equal(Date.parse("2026-11-05T10:00:02.000Z"));
  });

  it("is partitioned by key and month: the stream is the partition", () => {
    const [event] = recorded("k", [served({ at: "2026-12-01T00:00:00.000Z" })]);
    expect(event && monthlyQuota.partition(event)).to.equal("usage-k-2026-12");
  });

  it("ignores unknown events", () => {
    const [event] = recorded("k", [served()]);
    expect(fold(event ? [{ ...event, type: "SomethingNewer" }] : [])).to.deep.equal(monthlyQuota.initial());
  });

  it("counts an event once, however often it is delivered", () => {
    fc.assert(
      fc.property(fc.array(servedInNovember(), { maxLength: 60 }), fc.nat(), (data, cut) => {
        const events = recorded("k", data);
        const retold = [...events, ...events.slice(cut % (events.length + 1)), ...events];
        expect(fold(retold)).to.deep.equal(fold(events));
      }),
    );
  });

  it("is the sum of its events, with and without a snapshot", () => {
    fc.assert(
      fc.property(fc.array(servedInNovember(), { maxLength: 60 }), fc.nat(), (data, cut) => {
        const events = recorded("k", data);
        const at = cut % (events.length + 1);
        const restored = JSON.parse(JSON.stringify(fold(events.slice(0, at))));
        const state = events.slice(at).reduce(monthlyQuota.apply, restored);
        expect(state.used).to.equal(data.reduce((sum, { characters }) => sum + characters, 0));
        expect(state).to.deep.equal(fold(events));
      }),
    );
  });
});
