import { expect } from "chai";
import type { Charge } from "../../../src/domain/ledger/journal/charges.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { createUsageBuckets, type UsageBucketsRequest } from "../../../src/ledger/reports/usage-buckets.ts";
import { rejection } from "../../support/rejection.ts";

const seconds = (time: string): number => Date.parse(time) / 1_000;
const now = "2026-11-22T12:30:00.500Z";
const { signal } = new AbortController();

/** Reports of these charges, whatever range is read. */
const reporting = (charges: readonly Charge[], keys = ["a", "b"]) => {
  const ranges: { from: number; to: number; asOf: number }[] = [];
  const listed: string[] = [];
  const report = createUsageBuckets({
    readCharges: async ({ apiKeys, fromInclusive: from, toExclusive: to, asOf }, onCharge) => {
      ranges.push({ from, to, asOf });
      for (const charge of charges) {
        const at = Date.parse(charge.servedAt);
        if (apiKeys.includes(charge.apiKey) && from <= at && at < to) onCharge(charge);
      }
    },
    queue: createReportQueue(),
    keys: (only) => {
      listed.push(only ?? "all");
      const selected = keys.filter((apiKey) => only === undefined || apiKey === only);
      return selected.map((apiKey) => ({ apiKey, websiteId: `web-${apiKey}` }));
    },
    clock: () => Date.parse(now),
  });
  const ask = (request: Partial<UsageBucketsRequest>) =>
    report({ fromInclusive: seconds("2026-11-20T18:00:00Z"), width: "1d", groupBy: [], signal, ...request });
  return { ask, ranges, listed };
};

const charge = (apiKey: string, servedAt: string, characters: number, engine = "g1"): Charge => ({
  apiKey,
  servedAt,
  characters,
  engine,
  requests: Math.sign(characters),
});
const some = [
  charge("a", "2026-11-20T19:00:00.000Z", 5),
  charge("a", "2026-11-22T01:00:00.000Z", 7, "g2"),
  charge("b", "2026-11-22T01:30:00.000Z", 11),
  charge("b", "2026-11-21T01:30:00.000Z", 13),
  charge("b", "2026-11-21T01:30:00.000Z", -13),
];
const ungrouped = { websiteId: null, apiKey: null, engine: null };

describe("usage in buckets of time", () => {
  it("begins at the given time and continues at whole days, up to the end of the present one", async () => {
    const { asOf, buckets, nextPage } = await reporting(some).ask({});
    expect([asOf, nextPage]).to.deep.equal([seconds("2026-11-22T12:30:00Z"), undefined]);
    const days = ["2026-11-20T18:00:00Z", "2026-11-21", "2026-11-22", "2026-11-23"].map(seconds);
    expect(buckets).to.deep.equal([
      { fromInclusive: days[0], toExclusive: days[1], rows: [{ ...ungrouped, requests: 1, characters: 5 }] },
      { fromInclusive: days[1], toExclusive: days[2], rows: [] },
      { fromInclusive: days[2], toExclusive: days[3], rows: [{ ...ungrouped, requests: 2, characters: 18 }] },
    ]);
  });

  it("groups by website, key and engine", async () => {
    const { buckets } = await reporting(some).ask({ groupBy: ["model", "api_key_id", "project_id"] });
    expect(buckets[2]?.rows).to.deep.equal([
      { websiteId: "web-a", apiKey: "a", engine: "g2", requests: 1, characters: 7 },
      { websiteId: "web-b", apiKey: "b", engine: "g1", requests: 1, characters: 11 },
    ]);
  });

  it("filters by key, website and engine", async () => {
    const sumOf = async (request: Partial<UsageBucketsRequest>) =>
      (await reporting(some).ask(request)).buckets.flatMap(({ rows }) => rows.map((row) => row.characters));
    expect(await sumOf({ apiKeys: ["b", "unknown"] })).to.deep.equal([11]);
    expect(await sumOf({ websites: ["web-a"] })).to.deep.equal([5, 7]);
    expect(await sumOf({ engines: ["g2"] })).to.deep.equal([7]);
    expect(await sumOf({ apiKeys: [] })).to.deep.equal([]);
  });

  it("shows a key nothing but its own usage, whatever it filters by", async () => {
    const own = await reporting(some).ask({ apiKey: "a", groupBy: ["api_key_id"] });
    expect(own.buckets.flatMap(({ rows }) => rows.map(({ apiKey }) => apiKey))).to.deep.equal(["a", "a"]);
    const others = await reporting(some).ask({ apiKey: "a", apiKeys: ["b"] });
    expect(others.buckets.flatMap(({ rows }) => rows)).to.deep.equal([]);
  });

  it("looks up only the key itself for its own usage, however many keys there are", async () => {
    const { ask, listed } = reporting(some);
    await ask({ apiKey: "a" });
    await ask({});
    expect(listed).to.deep.equal(["a", "all"]);
  });

  it("continues on pages that cover the same range as of the same time", async () => {
    const { ask, ranges } = reporting(some);
    const whole = await ask({ width: "1h", limit: 168 });
    const buckets = [];
    let page: string | undefined;
    do {
      const part = await ask({ width: "1h", limit: 10, page });
      buckets.push(...part.buckets);
      expect(part.asOf).to.equal(whole.asOf);
      page = part.nextPage;
    } while (page !== undefined);
    expect(buckets).to.deep.equal(whole.buckets);
    expect(new Set(ranges.map(({ asOf }) => asOf)).size).to.equal(1);
  });

  it("has fewer buckets on a page if very many keys are grouped", async () => {
    const keys = Array.from({ length: 100_000 }, (_, n) => `k${n}`);
    const { ask } = reporting([], keys);
    expect((await ask({ groupBy: ["api_key_id"] })).buckets).to.have.length(2);
    expect((await ask({ groupBy: ["model"] })).buckets).to.have.length(3);
  });

  it("refuses an end that is not after the start, and a page that it has not issued", async () => {
    const { ask } = reporting([]);
    const from = seconds("2026-11-20");
    expect(await rejection(ask({ fromInclusive: from, toExclusive: from }))).to.deep.include({
      name: "Invalid",
    });
    for (const page of ["", "x", "bnVsbA", Buffer.from("[5,4,1]").toString("base64url")]) {
      const { problems } = (await rejection(ask({ page }))) as unknown as { problems: { path: string[] }[] };
      expect(problems[0]?.path).to.deep.equal(["page"]);
    }
  });
});
