import { expect } from "chai";
import { combineProviders, combineStatus } from "../../../src/application/health/combine-reports.ts";
import type { InstanceStatus, ProviderStatus } from "../../../src/application/health/instance-status.ts";

const statusOf = (instance: string, minute: number): InstanceStatus => ({
  instance,
  version: "1.2.3",
  startedAt: `2026-11-05T10:0${minute}:00.000Z`,
  asOf: `2026-11-05T11:0${minute}:00.000Z`,
  position: 7,
  projections: { lagMs: 0, live: true, failed: [] },
  health: { status: "ok", parts: {} },
  others: ["a", "b", "elsewhere"].map((name) => ({ instance: name, reportedAt: "2026-11-05T11:00:00.000Z" })),
  activity: [],
});

const providersOf = (instance: string, last: number): ProviderStatus => ({
  instance,
  asOf: "2026-11-05T11:00:00.000Z",
  resources: [],
  providers: [
    {
      engine: "oai",
      circuit: "closed",
      requests: 1,
      retries: 0,
      errors: 0,
      latency: { last, mean: last, longest: last },
      changes: [],
    },
  ],
});

describe("the reports of several workers as one", () => {
  it("name the same instance and times, whichever worker responds", () => {
    const [one, other] = [statusOf("a", 2), statusOf("b", 1)];
    const combined = combineStatus([one, other]);
    expect(combineStatus([other, one])).to.deep.equal(combined);
    expect(combined).to.include({
      instance: "a",
      startedAt: "2026-11-05T10:01:00.000Z",
      asOf: "2026-11-05T11:01:00.000Z",
    });
    expect(combined.others.map(({ instance }) => instance)).to.deep.equal(["elsewhere"]);
  });

  it("have the longest of the workers' last latencies, whichever worker responds", () => {
    const [one, other] = [providersOf("a", 100), providersOf("b", 300)];
    const combined = combineProviders([one, other]);
    expect(combineProviders([other, one])).to.deep.equal(combined);
    expect(combined.instance).to.equal("a");
    expect(combined.providers[0]?.latency).to.deep.equal({ last: 300, mean: 200, longest: 300 });
  });

  it("report the workers that do not respond as a part that is down", () => {
    expect(combineStatus([statusOf("a", 1)], 1).health).to.deep.equal({
      status: "degraded",
      parts: { workers: { status: "down", detail: "1 of 2 do not respond" } },
    });
  });
});
