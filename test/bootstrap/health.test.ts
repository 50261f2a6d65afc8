import { expect } from "chai";
import type { Health } from "../../src/application/health/health.ts";
import { checkAllWorkers, requireReportingViews, requireServingViews } from "../../src/bootstrap/health.ts";

const well = { position: 7, live: true, lagMs: 0, current: true, failed: [] };

describe("the health of the views", () => {
  it("is down when requests are refused, even if the subscription is live", () => {
    requireServingViews({ ...well, lagMs: 15_000 });
    expect(() => requireServingViews({ ...well, lagMs: 15_001, current: false })).to.throw("lags");
    expect(() => requireServingViews({ ...well, live: false })).to.throw("is down");
  });

  it("distinguishes a failed view that serves requests from one that serves reports", () => {
    expect(() => requireServingViews({ ...well, failed: ["keys"] })).to.throw("keys");
    requireReportingViews({ ...well, failed: ["keys"] });
    expect(() => requireReportingViews({ ...well, failed: ["platforms"] })).to.throw("platforms");
    requireServingViews({ ...well, failed: ["platforms"] });
  });
});

describe("the health of several workers", () => {
  const ok: Health = { status: "ok", parts: {} };
  let now = 0;
  let asked = 0;
  const checkAll = checkAllWorkers(
    async () => ok,
    async () => {
      asked += 1;
      return { reports: [], missing: 1 } as never;
    },
    { now: () => now },
  );

  it("is asked of all workers once in 500 ms, however many requests ask for it", async () => {
    const reports = await Promise.all(Array.from({ length: 100 }, checkAll));
    now = 499;
    reports.push(await checkAll());
    expect(new Set(reports).size).to.equal(1);
    expect(reports[0]?.parts.workers?.detail).to.equal("1 of 2 do not respond");
    expect(asked).to.equal(1);
    now = 500;
    await checkAll();
    expect(asked).to.equal(2);
  });
});
