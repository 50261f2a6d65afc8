import { expect } from "chai";
import fc from "fast-check";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import { usageTotals } from "../../../projections/usage-totals.ts";
import { createUsageReport, type UsageReport } from "../../../src/application/usage/usage-report.ts";
import { Invalid, NotFound, Unavailable } from "../../../src/domain/errors.ts";
import { monthOf, type SynthesisServed, usageStream } from "../../../src/domain/usage/usage.ts";
import { append, issued } from "../../support/audit-log.ts";
import { rejection } from "../../support/rejection.ts";
import { served, servedInNovember } from "../../support/served.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { voidOf } from "../../support/voiding.ts";

const now = "2026-11-20T12:00:00.000Z";

describe("a usage report", () => {
  let temporary: TemporaryStore;
  let runner: ProjectionRunner;

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    runner = createProjectionRunner({ store: temporary.store, projections: [usageTotals] });
    await runner.start();
  });

  afterEach(async () => {
    await runner.close();
    await temporary.remove();
  });

  const report = (request: { apiKey: string; month?: string; asOf?: string }): Promise<UsageReport> =>
    createUsageReport({
      store: temporary.store,
      totals: runner.view(usageTotals),
      clock: () => Date.parse(now),
    })(request);

  const serve = async (apiKey: string, events: readonly SynthesisServed[]): Promise<void> => {
    const newEvents = events.map((data) => ({
      stream: usageStream(apiKey, monthOf(data.at)),
      type: "SynthesisServed",
      data,
    }));
    await runner.waitForPosition(await append(temporary.store, newEvents));
  };

  const issue = async (apiKey: string): Promise<void> => {
    await append(temporary.store, issued(apiKey));
  };

  it("contains a month's characters and requests by day, engine and voice", async () => {
    await issue("k");
    await serve("k", [
      served({ at: "2026-11-01T09:00:00.000Z", characters: 3 }),
      served({ at: "2026-11-02T09:00:00.000Z", characters: 4, engine: "oai", voice: "alloy" }),
      served({ at: "2026-11-02T10:00:00.000Z", characters: 0, partial: true }),
    ]);
    expect(await report({ apiKey: "k", month: "2026-11" })).to.deep.equal({
      apiKey: "k",
      month: "2026-11",
      asOf: now,
      quota: 1_000_000,
      characters: 7,
      requests: 3,
      voided: { characters: 0, requests: 0 },
      byDay: [
        { day: "2026-11-01", requests: 1, characters: 3 },
        { day: "2026-11-02", requests: 2, characters: 4 },
      ],
      byEngine: [
        { engine: "g1", requests: 2, characters: 3 },
        { engine: "oai", requests: 1, characters: 4 },
      ],
      byVoice: [
        { voice: "UK English Female", requests: 2, characters: 3 },
        { voice: "alloy", requests: 1, characters: 4 },
      ],
    });
  });

  it("excludes voided servings from its totals and lists them separately", async () => {
    await issue("k");
    const kept = served({ requestId: "kept", characters: 3 });
    const taken = served({ requestId: "taken", characters: 4 });
    await serve("k", [kept, taken]);
    const at = "2026-11-05T10:00:01.000Z";
    const voids = voidOf(taken, at);
    const stream = "usage-k-2026-11";
    await runner.waitForPosition(
      await append(
        temporary.store,
        voids.map((event) => ({ ...event, stream })),
      ),
    );
    const charged = {
      characters: 3,
      requests: 1,
      voided: { characters: 4, requests: 1 },
      byDay: [{ day: "2026-11-05", characters: 3, requests: 1 }],
    };
    expect(await report({ apiKey: "k", month: "2026-11" })).to.deep.include(charged);
    expect(await report({ apiKey: "k", month: "2026-11", asOf: at })).to.deep.include(charged);
    expect(await report({ apiKey: "k", asOf: taken.at })).to.include({ characters: 7, requests: 2 });
  });

  it("covers the month of asOf, and the current month by default", async () => {
    await issue("k");
    await serve("k", [served({ at: "2026-10-09T09:00:00.000Z", characters: 5 })]);
    expect(await report({ apiKey: "k" })).to.include({ month: "2026-11", characters: 0 });
    expect(await report({ apiKey: "k", asOf: "2026-10-10" })).to.include({ month: "2026-10", characters: 5 });
  });

  it("is zero for a key without requests", async () => {
    await issue("k");
    const nothing = { characters: 0, requests: 0, byDay: [], byEngine: [], byVoice: [] };
    expect(await report({ apiKey: "k" })).to.deep.include(nothing);
    expect(await report({ apiKey: "k", asOf: now })).to.deep.include(nothing);
  });

  it("includes servings at exactly the asOf time", async () => {
    await issue("k");
    await serve("k", [served({ at: "2026-11-05T10:00:00.000Z" })]);
    expect(await report({ apiKey: "k", asOf: "2026-11-05T10:00:00Z" })).to.include({ requests: 1 });
    expect(await report({ apiKey: "k", asOf: "2026-11-05T09:59:59.999Z" })).to.include({ requests: 0 });
  });

  it("shows the quota at the asOf time, and none before the key was issued", async () => {
    await issue("k");
    const plan = { tier: "commercial", requestsPerMinute: 1_000, monthlyCharacters: null };
    const raised = { stream: "key-k", type: "PlanChanged", data: { plan, at: "2026-11-10T00:00:00.000Z" } };
    await append(temporary.store, [raised]);
    expect(await report({ apiKey: "k" })).to.have.property("quota", null);
    expect(await report({ apiKey: "k", asOf: "2026-11-09" })).to.have.property("quota", 1_000_000);
    expect(await report({ apiKey: "k", asOf: "2026-09-01" })).to.not.have.property("quota");
  });

  it("computed from the log as of the month's end equals the live one", async () => {
    let keys = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(servedInNovember(), { maxLength: 40 }), async (events) => {
        const apiKey = `k${keys++}`;
        await issue(apiKey);
        await serve(apiKey, events);
        const live = await report({ apiKey, month: "2026-11" });
        const folded = await report({ apiKey, month: "2026-11", asOf: "2026-12-01" });
        expect({ ...folded, asOf: now }).to.deep.equal(live);
        expect(live.characters).to.equal(events.reduce((sum, { characters }) => sum + characters, 0));
      }),
      { numRuns: 40 },
    );
  });

  it("computed from the log as of any time equals the live one of that time", async () => {
    let keys = 0;
    const events = fc.array(servedInNovember(), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(events, fc.nat(), async (unordered, cut) => {
        const apiKey = `k${keys++}`;
        const asOf = unordered[cut % unordered.length]?.at ?? now;
        await issue(apiKey);
        await serve(
          apiKey,
          unordered.filter(({ at }) => at <= asOf),
        );
        const liveThen = await report({ apiKey, month: "2026-11" });
        await serve(
          apiKey,
          unordered.filter(({ at }) => at > asOf),
        );
        expect(await report({ apiKey, month: "2026-11", asOf })).to.deep.equal({ ...liveThen, asOf });
      }),
      { numRuns: 40 },
    );
  });

  it("does not depend on the order in which instances appended their servings", async () => {
    await issue("k");
    const asOf = "2026-11-10T00:00:00.000Z";
    const [late, early] = ["2026-11-12T00:00:00.000Z", "2026-11-08T00:00:00.000Z"];
    await serve("k", [served({ at: late, characters: 100 }), served({ at: early, characters: 1 })]);
    expect(await report({ apiKey: "k", asOf })).to.include({ characters: 1, requests: 1 });
  });

  it("is refused for an invalid month or time, with the path in the error", async () => {
    await issue("k");
    for (const month of ["2026-13", "2026-1", "november", ""]) {
      expect(await failureOf(report({ apiKey: "k", month }))).to.deep.equal(["month"]);
    }
    for (const asOf of ["", "today", "2026-11-31", "2026-11-05T10:00:00"]) {
      expect(await failureOf(report({ apiKey: "k", asOf }))).to.deep.equal(["asOf"]);
    }
  });

  it("is refused for a key that was never issued, even if another key has it as a prefix", async () => {
    await issue("k");
    expect(await rejection(report({ apiKey: "" }))).to.be.instanceOf(NotFound);
    expect(await rejection(report({ apiKey: "kk" }))).to.be.instanceOf(NotFound);
  });

  it("fails as unavailable when the event store cannot be read", async () => {
    await issue("k");
    await temporary.store.close();
    expect(await rejection(report({ apiKey: "k" }))).to.be.instanceOf(Unavailable);
  });
});

const failureOf = async (report: Promise<UsageReport>) => {
  const error = await rejection(report);
  expect(error).to.be.instanceOf(Invalid);
  return error instanceof Invalid ? error.problems.flatMap(({ path }) => path) : [];
};
