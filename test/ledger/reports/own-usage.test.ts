import { expect } from "chai";
import { createOwnUsage } from "../../../src/ledger/reports/own-usage.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import type { UsageReport } from "../../../src/ledger/reports/usage-report.ts";
import { rejection } from "../../support/rejection.ts";

const report: UsageReport = {
  apiKey: "a",
  month: "2026-12",
  asOf: "2026-12-05T10:00:00.000Z",
  asOfPosition: 7,
  quotas: [],
  finalUntil: "2026-12-05T09:59:00.000Z",
  quota: 10,
  requests: 1,
  characters: 12,
  voided: { requests: 0, characters: 0 },
  byDay: [],
  byEngine: [],
  byVoice: [],
};
const { signal } = new AbortController();

describe("a key's report of its own usage", () => {
  it("has nothing remaining, and not less, after more than the quota was used", async () => {
    const reportOwnUsage = createOwnUsage({ queue: createReportQueue(), reportUsage: async () => report });
    expect(await reportOwnUsage({ apiKey: "a", signal })).to.include({
      used: 12,
      limit: 10,
      remaining: 0,
      reset: "2027-01-01T00:00:00.000Z",
    });
  });

  it("runs one report of a key at once, and refuses a key with many waiting reports, but no other key", async () => {
    const running: { apiKey: string; end(): void }[] = [];
    const reportOwnUsage = createOwnUsage({
      queue: createReportQueue(),
      reportUsage: ({ apiKey }) =>
        new Promise((resolve) => void running.push({ apiKey, end: () => resolve({ ...report, apiKey }) })),
    });
    const ask = (apiKey: string) => reportOwnUsage({ apiKey, signal });
    const accepted = [ask("busy"), ask("busy"), ask("busy"), ask("busy"), ask("busy")];
    expect(await rejection(ask("busy"))).to.include({ name: "Unavailable" });
    accepted.push(ask("other"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(running.map(({ apiKey }) => apiKey)).to.have.members(["busy", "other"]);
    const all = Promise.all(accepted);
    let done = false;
    const ended = all.finally(() => {
      done = true;
    });
    while (!done) {
      running.shift()?.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ended).to.have.length(6);
  });
});
