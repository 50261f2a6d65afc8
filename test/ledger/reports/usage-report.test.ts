import { expect } from "chai";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import { Invalid, NotFound, Unavailable } from "../../../src/domain/errors.ts";
import type { Serving } from "../../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import {
  createUsageReport,
  type UsageReport,
  type UsageReportParts,
} from "../../../src/ledger/reports/usage-report.ts";
import { createJournalAppender, type JournalAppender } from "../../support/append-to-journal.ts";
import { servingsVoided, synthesesServed } from "../../support/build-journal-events.ts";
import { append, issued } from "../../support/logged-events.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";

const now = "2026-11-20T12:00:00.000Z";
const clock = () => Date.parse(now);
const noon = "2026-11-05T10:00:00.000Z";

describe("a usage report", () => {
  let temporary: TemporaryStore;
  let log: JournalAppender;

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    log = await openJournal();
  });

  afterEach(() => temporary.remove());

  const openJournal = async (): Promise<JournalAppender> => {
    const opened = createJournalAppender(temporary.store);
    await createJournalRegistry(createCommandHandler({ store: temporary.store }), clock).open(opened.journal);
    return opened;
  };

  const report = (
    request: { apiKey: string; month?: string; asOf?: string; asOfPosition?: number },
    parts: Partial<UsageReportParts> = {},
  ): Promise<UsageReport> => {
    const { store } = temporary;
    return createUsageReport({ store, accounts: createUsageReader({ store }), clock, ...parts })(request);
  };

  const serve = async (apiKey: string, at: string, members: Partial<Serving> = {}): Promise<number> =>
    (await log.append(synthesesServed(at, [{ apiKey, ...members }]))).position;

  const issue = async (apiKey: string): Promise<void> => {
    await append(temporary.store, issued(apiKey));
  };

  it("contains a month's characters and requests by day, engine and voice", async () => {
    await issue("k");
    await serve("k", "2026-11-01T09:00:00.000Z", { characters: 3 });
    await serve("k", "2026-11-02T09:00:00.000Z", { characters: 4, engine: "oai", voice: "alloy" });
    const asOfPosition = await serve("k", "2026-11-02T10:00:00.000Z", { characters: 0, partial: true });
    expect(await report({ apiKey: "k", month: "2026-11" })).to.deep.equal({
      apiKey: "k",
      asOfPosition,
      month: "2026-11",
      asOf: now,
      finalUntil: "2026-11-20T11:57:50.000Z",
      quota: 1_000_000,
      plan: freePlan,
      status: "active",
      quotas: [{ at: "2026-10-01T00:00:00.000Z", quota: 1_000_000 }],
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
    await serve("k", noon, { requestId: "kept", characters: 3 });
    await serve("k", noon, { requestId: "taken", characters: 4 });
    const at = "2026-11-05T10:00:01.000Z";
    const taken = { apiKey: "k", requestId: "taken", characters: 4, servedAt: noon };
    await log.append(servingsVoided(at, [taken]));
    const charged = {
      characters: 3,
      requests: 1,
      voided: { characters: 4, requests: 1 },
      byDay: [{ day: "2026-11-05", characters: 3, requests: 1 }],
    };
    expect(await report({ apiKey: "k", month: "2026-11" })).to.deep.include(charged);
    expect(await report({ apiKey: "k", month: "2026-11", asOf: at })).to.deep.include(charged);
    expect(await report({ apiKey: "k", asOf: noon })).to.include({ characters: 7, requests: 2 });
  });

  it("covers the month of asOf, and the current month by default", async () => {
    await issue("k");
    await serve("k", "2026-10-09T09:00:00.000Z", { characters: 5 });
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
    await serve("k", noon);
    expect(await report({ apiKey: "k", asOf: "2026-11-05T10:00:00Z" })).to.include({ requests: 1 });
    expect(await report({ apiKey: "k", asOf: "2026-11-05T09:59:59.999Z" })).to.include({ requests: 0 });
  });

  it("shows the quota at the asOf time, and none before the key was issued", async () => {
    await issue("k");
    const data = { plan: unlimited, at: "2026-11-10T00:00:00.000Z" };
    const raised = { stream: "key-k", type: "PlanChanged", data };
    await append(temporary.store, [raised]);
    expect(await report({ apiKey: "k" })).to.have.property("quota", null);
    expect(await report({ apiKey: "k", asOf: "2026-11-09" })).to.have.property("quota", 1_000_000);
    expect(await report({ apiKey: "k", asOf: "2026-09-01" })).to.not.have.property("quota");
  });

  it("as of a position includes what was recorded up to it, with the quota and the month of then", async () => {
    await issue("k");
    const first = await serve("k", "2026-10-31T23:00:00.000Z", { characters: 1 });
    const second = await serve("k", noon, { characters: 2 });
    await append(temporary.store, [
      { stream: "key-k", type: "PlanChanged", data: { plan: unlimited, at: "2026-11-06T00:00:00.000Z" } },
    ]);
    await serve("k", noon, { characters: 4 });
    const ofPosition = { asOf: noon, asOfPosition: second, quota: 1_000_000, month: "2026-11" };
    expect(await report({ apiKey: "k", asOfPosition: second })).to.include({ ...ofPosition, characters: 2 });
    expect(await report({ apiKey: "k", asOfPosition: first })).to.include({
      month: "2026-10",
      characters: 1,
    });
    const earlier = { asOfPosition: second, asOf: "2026-11-04", month: "2026-11" };
    expect(await report({ apiKey: "k", ...earlier })).to.include({ characters: 0 });
  });

  it("is final up to the clock tolerance before now, the asOf time, or the time of the position", async () => {
    await issue("k");
    const asOfPosition = await serve("k", noon);
    const finalUntil = async (request: object) => (await report({ apiKey: "k", ...request })).finalUntil;
    expect(await finalUntil({})).to.equal("2026-11-20T11:57:50.000Z");
    expect(await finalUntil({ asOf: "2027-01-01", month: "2026-11" })).to.equal("2026-11-20T11:57:50.000Z");
    expect(await finalUntil({ asOf: noon })).to.equal(noon);
    expect(await finalUntil({ asOfPosition })).to.equal("2026-11-05T09:57:50.000Z");
  });

  it("is final by the event store's times while this machine's clock may be wrong", async () => {
    let stored = Date.parse("2026-11-20T11:00:00.000Z");
    await temporary.remove();
    temporary = await openTemporaryStore(() => stored);
    log = await openJournal();
    await issue("k");
    await serve("k", noon);
    const finalUntil = async () => (await report({ apiKey: "k" }, { isClockRight: () => false })).finalUntil;
    expect(await finalUntil()).to.equal("2026-11-20T10:57:50.000Z");
    stored = Date.parse("2026-11-20T11:30:00.000Z");
    await append(temporary.store, [{ stream: "seals", type: "Sealed", data: { at: noon } }]);
    expect(await finalUntil()).to.equal("2026-11-20T11:27:50.000Z");
    stored = Date.parse("2026-11-20T12:30:00.000Z"); // this machine's clock is behind
    await append(temporary.store, [{ stream: "seals", type: "Sealed", data: { at: noon } }]);
    expect(await finalUntil()).to.equal("2026-11-20T11:57:50.000Z");
  });

  it("names the quota at the month's beginning and its changes in the month, up to the report's time", async () => {
    await issue("k");
    const changes = [
      ["2026-10-20T00:00:00.000Z", { ...freePlan, monthlyCharacters: 5 }],
      ["2026-11-04T00:00:00.000Z", unlimited],
      ["2026-11-05T00:00:00.000Z", { ...unlimited, requestsPerMinute: 7 }],
      ["2026-11-06T00:00:00.000Z", freePlan],
    ] as const;
    for (const [at, plan] of changes) {
      await append(temporary.store, [{ stream: "key-k", type: "PlanChanged", data: { plan, at } }]);
    }
    const quotasOf = async (request: object) => (await report({ apiKey: "k", ...request })).quotas;
    const [first, second, , last] = changes.map(([at, plan]) => ({ at, quota: plan.monthlyCharacters }));
    expect(await quotasOf({ month: "2026-11" })).to.deep.equal([first, second, last]);
    expect(await quotasOf({ asOf: noon })).to.deep.equal([first, second]);
    expect(await quotasOf({ month: "2026-12" })).to.deep.equal([last]);
    expect(await quotasOf({ month: "2026-09" })).to.deep.equal([]);
  });

  it("is refused for a position without an event, with the path in the error", async () => {
    await issue("k");
    expect(await failureOf(report({ apiKey: "k", asOfPosition: 1_000_000 }))).to.deep.equal(["asOfPosition"]);
    expect(await failureOf(report({ apiKey: "k", asOfPosition: -1 }))).to.deep.equal(["asOfPosition"]);
  });

  it("does not depend on the order in which instances appended their servings", async () => {
    await issue("k");
    const asOf = "2026-11-10T00:00:00.000Z";
    const [late, early] = ["2026-11-12T00:00:00.000Z", "2026-11-08T00:00:00.000Z"];
    await serve("k", late, { characters: 100 });
    log = await openJournal();
    await serve("k", early, { characters: 1 });
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

const unlimited = { tier: "commercial", requestsPerMinute: 1_000, monthlyCharacters: null };
