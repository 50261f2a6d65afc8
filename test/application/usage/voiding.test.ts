import { expect } from "chai";
import fc from "fast-check";
import { type MonthlyUsage, monthlyQuota } from "../../../projections/monthly-quota.ts";
import {
  createProjectionRunner,
  type ProjectionRunner,
  type View,
} from "../../../projections/runner/runner.ts";
import type { Principal } from "../../../src/application/access/principal.ts";
import { createLedger, type Ledger } from "../../../src/application/usage/ledger.ts";
import type { Voiding } from "../../../src/application/usage/voiding.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import type { SynthesisServed, UsageEvent } from "../../../src/domain/usage/usage.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { openVoiding } from "../../support/voiding.ts";

const at = "2026-11-30T23:59:59.990Z";
const deadlineMs = 40;
const served = (requestId: string): Omit<SynthesisServed, "at"> => ({
  requestId,
  hash: "a",
  characters: 10,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
});

/** What happens to an append: it succeeds, fails, is stored without a response, or is delayed until it is released. */
type AppendOutcome = "answered" | "fails" | "unanswered" | "late";

const faultyStore = (store: EventStore, faults: Iterator<AppendOutcome>) => {
  const delayed: (() => Promise<unknown>)[] = [];
  return {
    store: {
      ...store,
      append: async (...append) => {
        const { value: fault = "answered" } = faults.next();
        if (fault === "answered") return await store.append(...append);
        if (fault === "fails") throw new EventStoreUnavailable("cut before the append");
        if (fault === "unanswered") await store.append(...append);
        else delayed.push(() => store.append(...append).catch(() => {}));
        return await new Promise<never>(() => {});
      },
    } satisfies EventStore,
    /** Performs the delayed appends, in any order. */
    release: async (order: (waiting: number) => number = () => 0): Promise<void> => {
      while (delayed.length > 0) await delayed.splice(order(delayed.length), 1)[0]?.();
    },
  };
};

const sequenceOf = function* (...faults: AppendOutcome[]): Generator<AppendOutcome> {
  yield* faults;
};

describe("voiding", () => {
  let temporary: TemporaryStore;
  let runner: ProjectionRunner;
  let quotas: View<MonthlyUsage>;
  let keys = 0;
  let apiKey: string;
  let now: number;
  const clock = () => now;

  before(async () => {
    temporary = await openTemporaryStore();
    runner = createProjectionRunner({ store: temporary.store, projections: [monthlyQuota] });
    await runner.start();
    quotas = runner.view(monthlyQuota);
  });
  after(async () => {
    await runner.close();
    await temporary.remove();
  });
  beforeEach(() => {
    apiKey = `k${++keys}`;
    now = Date.parse(at);
  });

  const principal = (): Principal => ({
    apiKey,
    websiteId: "w",
    plan: { tier: "enterprise", requestsPerMinute: 1_000, monthlyCharacters: null },
    proof: { by: "secret", secretId: "s" },
  });
  const open = (store: EventStore): { ledger: Ledger; voiding: Voiding } => {
    const handler = createCommandHandler({ store, clock, deadlineMs });
    const voiding = openVoiding(store, clock, { deadlineMs });
    return { ledger: createLedger({ handler, views: runner, quotas, voiding, clock }), voiding };
  };
  const logged = async (): Promise<UsageEvent[]> => {
    const events: UsageEvent[] = [];
    for await (const { type, data, position } of temporary.store.readStream(`usage-${apiKey}-2026-11`)) {
      events.push({ type, data } as UsageEvent);
      await runner.waitForPosition(position);
    }
    return events;
  };
  const use = (): MonthlyUsage | undefined => quotas.get(`usage-${apiKey}-2026-11`);

  it("refunds the characters of a request that was answered with 503 but is in the log", async () => {
    const { store } = faultyStore(temporary.store, sequenceOf("unanswered"));
    const { ledger, voiding } = open(store);
    expect(await rejection(ledger.record(principal(), served("r1")))).to.be.instanceOf(Unavailable);
    now += 1_000; // the month of the request is over
    await voiding.settled();
    const [recorded, voided] = await logged();
    expect(recorded?.data).to.include({ requestId: "r1", characters: 10 });
    expect(voided).to.deep.equal({
      type: "ServingVoided",
      data: {
        requestId: "r1",
        characters: 10,
        serving: { hash: "a", engine: "g1", voice: "UK English Female", at },
        at: "2026-12-01T00:00:00.990Z",
      },
    });
    expect(use()).to.include({ used: 0, requests: 0 });
  });

  it("prevents an abandoned append from being stored later", async () => {
    const { store, release } = faultyStore(temporary.store, sequenceOf("late"));
    const { ledger, voiding } = open(store);
    await rejection(ledger.record(principal(), served("r1")));
    await voiding.settled();
    await release();
    expect(await logged()).to.deep.equal([
      { type: "ServingVoided", data: { requestId: "r1", characters: 0, at } },
    ]);
  });

  it("appends one event for all abandoned requests of a stream", async () => {
    const { voiding } = open(temporary.store);
    for (const requestId of ["r1", "r2", "r3"]) {
      voiding.void({ stream: `usage-${apiKey}-2026-11`, requestId, after: -1 });
    }
    await voiding.settled();
    expect(await logged()).to.have.length(1);
  });

  it("voids a request once, even if the append of the void is delayed or not answered", async () => {
    const { store, release } = faultyStore(
      temporary.store,
      sequenceOf("unanswered", "late", "unanswered", "fails", "late"),
    );
    const { ledger, voiding } = open(store);
    await rejection(ledger.record(principal(), served("r1")));
    await voiding.settled();
    await release();
    expect((await logged()).map(({ type }) => type)).to.deep.equal(["SynthesisServed", "ServingVoided"]);
  });

  it("appends nothing for a request that sent no append", async () => {
    const unreadable: EventStore = {
      ...temporary.store,
      // biome-ignore lint/correctness/useYield: the store cannot be read
      readStream: async function* () {
        throw new EventStoreUnavailable("cut before the read");
      },
    };
    const { ledger, voiding } = open(unreadable);
    expect(await rejection(ledger.record(principal(), served("r1")))).to.be.instanceOf(Unavailable);
    expect(voiding.pending).to.equal(0);
  });

  it("charges exactly the requests that succeeded, for any outcome of the appends", async () => {
    const fault = fc.constantFrom<AppendOutcome>("answered", "answered", "fails", "unanswered", "late");
    const requests = fc.array(fc.nat(1), { minLength: 1, maxLength: 12 });
    const perInstance = fc.array(fault, { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(requests, perInstance, perInstance, fc.nat(), async (targets, one, two, seed) => {
        apiKey = `k${++keys}`;
        const stores = [one, two].map((faults) => faultyStore(temporary.store, faults.values()));
        const instances = stores.map(({ store }) => open(store));
        const outcomes = await Promise.allSettled(
          targets.map(async (instance, index) => {
            if (index % 3 === 0) await new Promise(setImmediate);
            await instances[instance]?.ledger.record(principal(), served(`r${index}`));
          }),
        );
        for (const { release } of stores) await release((waiting) => seed % waiting);
        await Promise.all(instances.map(({ voiding }) => voiding.settled()));
        for (const { release } of stores) await release((waiting) => seed % waiting);
        const charged = chargedIn(await logged());
        expect([...charged].sort()).to.deep.equal(
          outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [`r${index}`] : [])).sort(),
        );
        expect(use()?.used ?? 0).to.equal(charged.size * 10);
      }),
      { numRuns: 60 },
    );
  }).timeout(120_000);

  it("charges a retried request exactly once if any attempt succeeded, for any outcome of the appends", async () => {
    const fault = fc.constantFrom<AppendOutcome>("answered", "fails", "unanswered", "late");
    const attempts = fc.array(fc.nat(1), { minLength: 1, maxLength: 6 });
    const perInstance = fc.array(fault, { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        attempts,
        perInstance,
        perInstance,
        fc.boolean(),
        async (targets, one, two, atOnce) => {
          apiKey = `k${++keys}`;
          const idempotency = { key: "i", request: "same" };
          const stores = [one, two].map((faults) => faultyStore(temporary.store, faults.values()));
          const instances = stores.map(({ store }) => open(store));
          const attempt = async (instance: number, index: number) =>
            await instances[instance]?.ledger.record(principal(), { ...served(`r${index}`), idempotency });
          const outcomes: PromiseSettledResult<unknown>[] = [];
          if (atOnce) outcomes.push(...(await Promise.allSettled(targets.map(attempt))));
          else
            for (const [index, instance] of targets.entries())
              outcomes.push(...(await Promise.allSettled([attempt(instance, index)])));
          for (const { release } of stores) await release();
          await Promise.all(instances.map(({ voiding }) => voiding.settled()));
          for (const { release } of stores) await release();
          await logged();
          const isServed = outcomes.some(({ status }) => status === "fulfilled");
          expect(use()?.used ?? 0).to.equal(isServed ? 10 : 0);
        },
      ),
      { numRuns: 80 },
    );
  }).timeout(120_000);

  it("refuses to record requests for a stream with too many unsettled ones", async () => {
    const { store } = faultyStore(temporary.store, sequenceOf(...Array<AppendOutcome>(99).fill("late")));
    const voiding = openVoiding(store, clock, { deadlineMs, maxPerStream: 1, onError: () => {} });
    const handler = createCommandHandler({ store, clock, deadlineMs });
    const ledger = createLedger({ handler, views: runner, quotas, voiding, clock });
    await rejection(ledger.record(principal(), served("r1")));
    const refusal = await rejection(ledger.record(principal(), served("r2")));
    expect(refusal).to.be.instanceOf(Unavailable).with.property("message").that.includes("Too many requests");
    expect(voiding.pending).to.equal(1);
    await voiding.close(0);
  });

  it("voids requests that are being recorded at shutdown", async () => {
    const { store } = faultyStore(temporary.store, sequenceOf("unanswered"));
    const { ledger } = open(store);
    const refusal = rejection(ledger.record(principal(), served("r1")));
    await ledger.close(60_000);
    expect(await refusal).to.be.instanceOf(Unavailable);
    expect((await logged()).map(({ type }) => type)).to.deep.equal(["SynthesisServed", "ServingVoided"]);
  });

  it("closes within the given time and reports requests that stay charged", async () => {
    const { store } = faultyStore(temporary.store, sequenceOf(...Array<AppendOutcome>(99).fill("late")));
    const reports: string[] = [];
    const onError = (what: string, error: unknown) => reports.push(`${what}: ${error}`);
    const voiding = openVoiding(store, clock, { deadlineMs, onError });
    voiding.void({ stream: `usage-${apiKey}-2026-11`, requestId: "r1", after: -1 });
    await voiding.close(0);
    expect(reports).to.deep.equal(["1 requests without audio may stay charged: Error: not settled: r1"]);
  });
});

/** The requests whose characters count. */
const chargedIn = (events: readonly UsageEvent[]): Set<string> => {
  const charged = new Set<string>();
  for (const { type, data } of events) {
    if (type === "SynthesisServed") {
      expect(charged.has(data.requestId), `${data.requestId} is charged twice`).to.equal(false);
      charged.add(data.requestId);
    } else if (type === "ServingVoided") charged.delete(data.requestId);
  }
  return charged;
};
