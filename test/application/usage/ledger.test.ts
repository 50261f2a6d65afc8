import { expect } from "chai";
import { monthlyQuota } from "../../../projections/monthly-quota.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import type { Principal } from "../../../src/application/access/principal.ts";
import { createLedger, type Ledger } from "../../../src/application/usage/ledger.ts";
import { createWarmUsage } from "../../../src/application/usage/warm-usage.ts";
import { changePlan, issueKey, type Key, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import type { Plan } from "../../../src/domain/accounts/plan.ts";
import { Invalid, KeyIsSuspended, Unavailable } from "../../../src/domain/errors.ts";
import type { SynthesisServed } from "../../../src/domain/usage/usage.ts";
import { type CommandHandler, createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { openVoiding } from "../../support/voiding.ts";

const aTime = Date.parse("2026-11-21T10:00:00.000Z");
const at = new Date(aTime).toISOString();
const plan = (monthlyCharacters: number | null): Plan => ({
  tier: "enterprise",
  requestsPerMinute: 1_000,
  monthlyCharacters,
});
const principal = (monthlyCharacters: number | null): Principal => ({
  apiKey: "k",
  websiteId: "w",
  plan: plan(monthlyCharacters),
  proof: { by: "secret", secretId: "s" },
});
const served = (over: Partial<SynthesisServed> = {}): Omit<SynthesisServed, "at"> => ({
  requestId: "r",
  hash: "a",
  characters: 10,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
  ...over,
});
const whole = { hashes: ["a"], characters: 10, partial: false };
const part = { ...whole, partial: true };

describe("the ledger", () => {
  let temporary: TemporaryStore;
  let handler: CommandHandler;
  let runner: ProjectionRunner;
  let ledger: Ledger;
  let now = aTime;
  const opened = (views: Pick<ProjectionRunner, "waitForPosition"> = runner): Ledger =>
    createLedger({
      handler,
      views,
      quotas: runner.view(monthlyQuota),
      voiding: openVoiding(temporary.store, () => now),
      clock: () => now,
    });
  const key = async (): Promise<Key> =>
    (await handler.execute(keyDecider, keyStream("k"), () => [], {})).state;
  const usageEvents = async (month = "2026-11"): Promise<SynthesisServed[]> => {
    const all: SynthesisServed[] = [];
    for await (const { data, position } of temporary.store.readStream(`usage-k-${month}`)) {
      all.push(data as SynthesisServed);
      await runner.waitForPosition(position);
    }
    return all;
  };
  const refusal = (outcome: Promise<unknown>): Promise<unknown> => outcome.catch((error) => error);

  beforeEach(async () => {
    now = aTime;
    temporary = await openTemporaryStore();
    const { store } = temporary;
    handler = createCommandHandler({ store });
    runner = createProjectionRunner({ store, projections: [monthlyQuota] });
    await runner.start();
    await handler.execute(
      keyDecider,
      keyStream("k"),
      (state) => issueKey(state, { apiKey: "k", websiteId: "w", plan: plan(15), at }),
      {},
    );
    ledger = opened();
  });
  afterEach(async () => {
    await runner.close();
    await temporary.remove();
  });

  it("records the serving and its time before it resolves", async () => {
    await ledger.record(principal(15), served());
    expect(await usageEvents()).to.deep.equal([{ ...served(), at }]);
  });

  it("refuses a request that would exceed the quota and suspends the key", async () => {
    await ledger.record(principal(15), served());
    expect(await refusal(ledger.record(principal(15), served()))).to.be.instanceOf(KeyIsSuspended);
    expect(await key()).to.include({ status: "suspended", cause: "quota" });
    expect(await usageEvents()).to.have.length(1);
  });

  it("counts each month separately", async () => {
    await ledger.record(principal(15), served());
    now = Date.parse("2026-12-01T00:00:00.000Z");
    await ledger.record(principal(15), served());
    expect(await usageEvents("2026-12")).to.have.length(1);
    expect((await key()).status).to.equal("active");
  });

  it("does not suspend a key whose plan was raised meanwhile, and fails as unavailable", async () => {
    await handler.execute(
      keyDecider,
      keyStream("k"),
      (state) => changePlan(state, { plan: plan(1_000), at }),
      {},
    );
    expect(await refusal(ledger.record(principal(5), served()))).to.be.instanceOf(Unavailable);
    expect((await key()).status).to.equal("active");
  });

  it("reports the suspension even if the views do not reach it", async () => {
    const blind = opened({
      waitForPosition: async (_position, signal) => {
        expect(signal).to.be.instanceOf(AbortSignal);
        throw new EventStoreUnavailable("the views are unavailable");
      },
    });
    expect(await refusal(blind.record(principal(15), served({ characters: 20 })))).to.be.instanceOf(
      KeyIsSuspended,
    );
  });

  describe("with an Idempotency-Key", () => {
    const keyed = (over: Partial<SynthesisServed> = {}) =>
      served({ idempotency: { key: "i", request: "same" }, ...over });
    const characters = async (month?: string) => (await usageEvents(month)).map((event) => event.characters);

    it("charges a repeated request once, also in another instance and after a restart", async () => {
      await ledger.record(principal(10), keyed());
      await ledger.record(principal(10), keyed({ requestId: "r2" }));
      const { store } = temporary;
      const quotas = runner.view(monthlyQuota);
      await usageEvents();
      const warm = createWarmUsage({ store, quotas, clock: () => now });
      handler = createCommandHandler({ store, readSnapshot: warm });
      now += 24 * 60 * 60_000;
      await opened().record(principal(10), keyed({ requestId: "r3" }));
      expect(await characters()).to.deep.equal([10, 0, 0]);
    });

    it("refuses the key for a different request, both in the quota check and when recording", async () => {
      await ledger.record(principal(null), keyed());
      const idempotency = { key: "i", request: "another" };
      const request = { ...whole, idempotency };
      expect(await refusal(ledger.checkQuota(principal(null), request, "r"))).to.be.instanceOf(Invalid);
      const again = ledger.record(principal(null), keyed({ idempotency }));
      expect(await refusal(again)).to.be.instanceOf(Invalid);
    });

    it("recognizes the key after the month's end and records the repeat in the first request's month", async () => {
      now = Date.parse("2026-11-30T23:59:59.000Z");
      await ledger.record(principal(10), keyed());
      now = Date.parse("2026-12-01T00:00:01.000Z");
      await ledger.checkQuota(principal(5), { ...whole, idempotency: { key: "i", request: "same" } }, "r2");
      await ledger.record(principal(10), keyed({ requestId: "r2" }));
      expect(await characters()).to.deep.equal([10, 0]);
      expect(await characters("2026-12")).to.deep.equal([]);
    });

    it("charges a new key in the new month", async () => {
      now = Date.parse("2026-12-01T00:00:01.000Z");
      await ledger.record(principal(10), keyed());
      expect(await characters("2026-12")).to.deep.equal([10]);
    });
  });

  describe("checked before synthesis", () => {
    it("admits a request within the quota without recording it", async () => {
      await ledger.checkQuota(principal(15), whole, "r");
      await ledger.checkQuota(principal(null), { ...whole, characters: 1e9 }, "r");
      expect(await usageEvents()).to.have.length(0);
    });

    it("refuses a request beyond the quota and suspends the key", async () => {
      await ledger.record(principal(15), served());
      await usageEvents();
      expect(await refusal(ledger.checkQuota(principal(15), whole, "r"))).to.be.instanceOf(KeyIsSuspended);
      expect((await key()).status).to.equal("suspended");
    });

    it("admits a free range when the quota is full", async () => {
      await ledger.record(principal(10), served());
      await usageEvents();
      await ledger.checkQuota(principal(10), part, "r");
      await ledger.record(principal(10), served({ partial: true }));
      expect((await usageEvents()).map(({ characters }) => characters)).to.deep.equal([10, 0]);
      expect((await key()).status).to.equal("active");
    });
  });
});
