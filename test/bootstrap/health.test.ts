import { expect } from "chai";
import { requireReportingViews, requireServingViews } from "../../src/bootstrap/health.ts";

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
