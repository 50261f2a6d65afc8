import { expect } from "chai";
import { mustReport, mustServe } from "../../src/bootstrap/view-health.ts";

const well = { position: 7, live: true, lagMs: 0, current: true, failed: [] };

describe("the health of the views", () => {
  it("is down when requests are refused, though the subscription seems to be live", () => {
    mustServe({ ...well, lagMs: 15_000 });
    expect(() => mustServe({ ...well, lagMs: 15_001, current: false })).to.throw("lags");
    expect(() => mustServe({ ...well, live: false })).to.throw("is down");
  });

  it("distinguishes a failed view that serves requests from one that serves reports", () => {
    expect(() => mustServe({ ...well, failed: ["keys"] })).to.throw("keys");
    mustReport({ ...well, failed: ["keys"] });
    expect(() => mustReport({ ...well, failed: ["usage-totals"] })).to.throw("usage-totals");
    mustServe({ ...well, failed: ["usage-totals"] });
  });
});
