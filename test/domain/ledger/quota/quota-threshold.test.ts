import { expect } from "chai";
import fc from "fast-check";
import {
  crossThresholds,
  hasReached,
  nextThreshold,
  quotaThresholds,
  thresholdDecider,
} from "../../../../src/domain/ledger/quota/quota-threshold.ts";
import { accountClosed, usagePosted } from "../../../support/usage-account-events.ts";

const at = "2026-11-05T10:00:00.000Z";
const { initial, evolve } = thresholdDecider;
const used = (characters: number, quota = 100) => ({ apiKey: "k", month: "2026-11", characters, quota, at });

describe("the thresholds of a quota", () => {
  it("are crossed when the characters are that part of the quota or more, and not before", () => {
    expect(crossThresholds(initial(), used(49))).to.deep.equal([]);
    const [event] = crossThresholds(initial(), used(50));
    expect(event).to.deep.include({
      type: "QuotaThresholdCrossed",
      data: { threshold: 50, characters: 50, quota: 100, at },
    });
  });

  it("are not crossed without any characters, even if the quota is 0", () => {
    expect(crossThresholds(initial(), used(0, 0))).to.deep.equal([]);
  });

  it("are all reported if the characters pass several at once", () => {
    const crossed = crossThresholds(initial(), used(100)).map(({ data }) => data.threshold);
    expect(crossed).to.deep.equal([50, 80, 95, 100]);
  });

  it("are reported once per month, also after the quota was raised", () => {
    const after = crossThresholds(initial(), used(85)).reduce(evolve, initial());
    expect(crossThresholds(after, used(94))).to.deep.equal([]);
    expect(crossThresholds(after, used(600, 1_000))).to.deep.equal([]);
    const [event, ...others] = crossThresholds(after, used(960, 1_000));
    expect([event?.data.threshold, others]).to.deep.equal([95, []]);
  });

  it("are not reported for a closed account", () => {
    const closed = [usagePosted(), accountClosed({ requests: 1, characters: 11 })].reduce(evolve, initial());
    expect(crossThresholds(closed, used(99))).to.deep.equal([]);
  });

  it("have the same event id on every instance, one per key, month and threshold", () => {
    const ids = (usage: ReturnType<typeof used>) => crossThresholds(initial(), usage).map(({ id }) => id);
    expect(ids(used(100))).to.deep.equal(ids(used(700, 500)));
    const all = [used(100), { ...used(100), apiKey: "l" }, { ...used(100), month: "2026-12" }].flatMap(ids);
    expect(new Set(all).size).to.equal(12);
  });

  it("never go back in time within an account", () => {
    const state = [usagePosted({ at: "2026-11-05T10:00:05.000Z" })].reduce(evolve, initial());
    expect(crossThresholds(state, used(50))[0]?.data.at).to.equal("2026-11-05T10:00:05.000Z");
  });

  it("are each reported once, and never before they are reached, for any usage and quotas", () => {
    const step = fc.record({ characters: fc.integer({ min: -50, max: 200 }), quota: fc.nat({ max: 1_000 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let [state, characters] = [initial(), 0];
        const reached = new Set<number>();
        for (const { characters: more, quota } of steps) {
          characters = Math.max(0, characters + more);
          const next = nextThreshold(state.crossed, quota);
          const events = crossThresholds(state, used(characters, quota));
          const isDue = next !== undefined && characters >= next;
          expect(isDue, "the next threshold").to.equal(events.length > 0);
          state = events.reduce(evolve, state);
          for (const threshold of quotaThresholds)
            if (hasReached(threshold, characters, quota)) reached.add(threshold);
          const reported = state.crossed.map(({ threshold }) => threshold).sort((a, b) => a - b);
          expect(reported).to.deep.equal([...reached].sort((a, b) => a - b));
        }
      }),
    );
  });
});
