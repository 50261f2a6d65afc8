import { expect } from "chai";
import { createProviderActivities } from "../../../src/application/health/provider-activity.ts";

describe("the activity of providers", () => {
  const at = "2026-11-05T10:00:00.000Z";
  const record = () => createProviderActivities({ clock: () => Date.parse(at) });

  it("counts requests, retries, errors and latencies of each account by itself", () => {
    const { record: event, list } = record();
    event("oai", { what: "requested" }, "web_1");
    event("oai", { what: "answered", ms: 100 }, "web_1");
    event("oai", { what: "retried" }, "web_1");
    event("oai", { what: "answered", ms: 300 }, "web_1");
    event("oai", { what: "refused", status: 429 }, "web_1");
    event("g1", { what: "requested" });
    expect(list()).to.have.deep.members([
      {
        engine: "oai",
        websiteId: "web_1",
        circuit: "closed",
        requests: 1,
        retries: 1,
        errors: 1,
        latency: { last: 300, mean: 200, longest: 300 },
        lastError: { at, what: "status 429" },
        changes: [],
      },
      { engine: "g1", circuit: "closed", requests: 1, retries: 0, errors: 0, changes: [] },
    ]);
  });

  it("keeps the last 100 changes of the circuit", () => {
    const { record: event, list } = record();
    for (let change = 0; change < 101; change++)
      event("msv", { what: "circuit", state: change % 2 === 0 ? "open" : "closed" }, "web_1");
    const [account] = list();
    expect(account?.circuit).to.equal("open");
    expect(account?.changes).to.have.length(100);
    expect(account?.changes[0]).to.deep.equal({ at, circuit: "closed" });
  });

  it("keeps at most 1,000 accounts: those that were used last", () => {
    const { record: event, list } = record();
    for (let website = 0; website <= 1_000; website++) event("oai", { what: "requested" }, `web_${website}`);
    expect(list()).to.have.length(1_000);
    expect(list().some(({ websiteId }) => websiteId === "web_0")).to.equal(false);
  });
});
