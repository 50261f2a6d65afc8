import { expect } from "chai";
import { Invalid } from "../../../src/domain/errors.ts";
import { createDailyUsage } from "../../../src/ledger/reports/daily-usage.ts";
import type { UsageBucketsRequest } from "../../../src/ledger/reports/usage-buckets.ts";
import { rejection } from "../../support/rejection.ts";

const now = Date.parse("2026-11-01T00:05:00.000Z");

describe("the usage of a day", () => {
  const days: string[] = [];
  const report = createDailyUsage({
    clock: () => now,
    reportUsageBuckets: async ({ fromInclusive, toExclusive = 0, groupBy }: UsageBucketsRequest) => {
      days.push(`${new Date(fromInclusive * 1_000).toISOString()}, ${toExclusive - fromInclusive} s`);
      const rows = ["a", "b"].map((apiKey, index) => ({
        websiteId: `web-${apiKey}`,
        apiKey,
        engine: null,
        requests: 1,
        characters: 7 + index,
      }));
      expect(groupBy).to.deep.equal(["project_id", "api_key_id"]);
      return { asOf: now / 1_000, buckets: [{ fromInclusive, toExclusive, rows }], nextPage: undefined };
    },
  });

  it("is that of the named day, today or yesterday, in UTC", async () => {
    for (const day of ["yesterday", "today", "2026-02-28"]) await report(day);
    expect(days).to.deep.equal([
      "2026-10-31T00:00:00.000Z, 86400 s",
      "2026-11-01T00:00:00.000Z, 86400 s",
      "2026-02-28T00:00:00.000Z, 86400 s",
    ]);
  });

  it("has the charges of each key and their sum", async () => {
    expect(await report("yesterday")).to.deep.equal({
      day: "2026-10-31",
      asOf: "2026-11-01T00:05:00.000Z",
      requests: 2,
      characters: 15,
      keys: [
        { websiteId: "web-a", apiKey: "a", requests: 1, characters: 7 },
        { websiteId: "web-b", apiKey: "b", requests: 1, characters: 8 },
      ],
    });
  });

  it("is refused for anything that is no day", async () => {
    for (const day of ["", "tomorrow", "2026-02-30", "2026-11", "toString"])
      expect(await rejection(report(day)), day).to.be.instanceOf(Invalid);
  });
});
