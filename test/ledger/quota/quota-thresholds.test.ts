import { expect } from "chai";
import fc from "fast-check";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import { KeyIsSuspended } from "../../../src/domain/errors.ts";
import {
  type QuotaThresholdCrossed,
  usageAccountStream,
} from "../../../src/domain/ledger/accounts/usage-account.ts";
import type { Receipt } from "../../../src/domain/ledger/journal/serving.ts";
import { PostingsCheck } from "../../../src/domain/ledger/proof/postings-check.ts";
import { hasReached, quotaThresholds } from "../../../src/domain/ledger/quota/quota-threshold.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import { KnownEntries } from "../../../src/ledger/accounts/known-entries.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import type { OpenLedger, OpenLedgerOptions } from "../../../src/ledger/open-ledger.ts";
import { readSealedEvents } from "../../../src/ledger/proof/sealed-log.ts";
import {
  type CrossedThresholds,
  QuotaThresholds,
  type QuotaThresholdsOptions,
} from "../../../src/ledger/quota/quota-thresholds.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";
import { disturbedStore } from "../disturbed-store.ts";

const now = Date.parse("2026-11-05T10:00:00.000Z");
const month = "2026-11";

interface Instance {
  readonly opened: OpenLedger;
  readonly thresholds: QuotaThresholds;
  readonly crossings: CrossedThresholds[];
  readonly errors: unknown[];
  readonly reads: string[][];
  serve(apiKey: string, characters: number, requestId?: string): Promise<Receipt>;
  /** Asks for characters that the quota does not have: the key is suspended. */
  exceedQuota(apiKey: string, characters: number): Promise<void>;
  /** Ends as by `kill -9`: nothing is checked or returned. */
  abandon(): void;
}

/** A ledger of one instance, whose checks run on request. */
const openInstance = async (
  store: EventStore,
  quotas: Record<string, number | null>,
  { onCrossed = async () => {}, ...options }: Partial<QuotaThresholdsOptions> = {},
  ledgerOptions: Partial<OpenLedgerOptions> = {},
): Promise<Instance> => {
  const time = createManualTime();
  const usage = createUsageReader({ store });
  const crossings: CrossedThresholds[] = [];
  const errors: unknown[] = [];
  const reads: string[][] = [];
  const knownEntries = new KnownEntries();
  const thresholds = new QuotaThresholds({
    store,
    known: knownEntries,
    handler: createCommandHandler({ store, clock: () => now }),
    usage: {
      countsOf: (keys, of) => {
        reads.push([...keys]);
        return usage.countsOf(keys, of);
      },
    },
    quotaOf: (apiKey) => quotas[apiKey],
    onCrossed: async (crossed) => {
      crossings.push(crossed);
      await onCrossed(crossed);
    },
    clock: () => now,
    time,
    onError: (_what, error) => errors.push(error),
    ...options,
  });
  const opened = await openTestLedger(store, () => now, {
    knownEntries,
    onCharged: thresholds.count,
    onQuotaExceeded: thresholds.recheck,
    onOthersRecorded: thresholds.add,
    onFollowing: thresholds.countUnposted,
    ...ledgerOptions,
  });
  const principal = (apiKey: string) => testPrincipal({ apiKey, monthlyCharacters: quotas[apiKey] ?? null });
  return {
    opened,
    thresholds,
    crossings,
    errors,
    reads,
    serve: (apiKey, characters, requestId = crypto.randomUUID()) =>
      record(opened.ledger, principal(apiKey), servedAudio({ requestId, characters, hash: requestId })),
    exceedQuota: async (apiKey, characters) => {
      const request = { requestId: "r", characters };
      const { signal } = new AbortController();
      const error = await rejection(opened.ledger.admit(principal(apiKey), request, signal));
      expect(error).to.be.instanceOf(KeyIsSuspended);
    },
    abandon: () => thresholds.stop(),
  };
};

const crossedIn = async (store: EventStore, apiKey: string): Promise<QuotaThresholdCrossed[]> => {
  const events = await collect(store.readStream(usageAccountStream(apiKey, month)));
  return events
    .filter(({ type }) => type === "QuotaThresholdCrossed")
    .map(({ data }) => data as QuotaThresholdCrossed);
};

const reported = async (store: EventStore, apiKey: string): Promise<number[]> =>
  (await crossedIn(store, apiKey)).map(({ threshold }) => threshold);

/** Checks until the thresholds are reported: events of other instances arrive in the background. */
const checkUntil = async (
  instances: readonly Instance[],
  store: EventStore,
  apiKey: string,
  expected: readonly number[],
): Promise<void> => {
  do {
    for (const { thresholds } of instances) await thresholds.check();
  } while ((await reported(store, apiKey)).length < expected.length);
  expect(await reported(store, apiKey)).to.deep.equal(expected);
};

const stores = [
  ["SQLite", 6, async () => openTemporaryStore()],
  ["EventStoreDB with index lag", 2, openLaggingStore],
] as const;

for (const [name, numRuns, open] of stores) {
  describe(`the thresholds of quotas on ${name}`, () => {
    let store: EventStore;
    let remove: () => Promise<void>;
    const instances: Instance[] = [];

    before(async () => {
      const opened = await open();
      store = validatedEventStore(opened.store);
      remove = opened.remove;
    });
    afterEach(async () => {
      for (const { thresholds, opened } of instances.splice(0)) {
        thresholds.stop();
        await opened.close(5_000);
      }
    });
    after(() => remove());

    const start = async (quotas: Record<string, number | null>): Promise<Instance> => {
      const instance = await openInstance(store, quotas);
      instances.push(instance);
      return instance;
    };

    it("are recorded once when the key's usage reaches them, with the exact characters", async () => {
      const one = await start({ a: 1_000 });
      await one.serve("a", 499);
      await one.thresholds.check();
      expect(await reported(store, "a")).to.deep.equal([]);
      await one.serve("a", 1);
      await checkUntil([one], store, "a", [50]);
      await one.serve("a", 480);
      await checkUntil([one], store, "a", [50, 80, 95]);
      await one.serve("a", 20);
      await checkUntil([one], store, "a", [50, 80, 95, 100]);
      await one.thresholds.check();
      const at = new Date(now).toISOString();
      expect((await crossedIn(store, "a")).map(({ characters }) => characters)).to.deep.equal([
        500, 980, 980, 1_000,
      ]);
      expect((await crossedIn(store, "a"))[0]).to.deep.equal({
        threshold: 50,
        characters: 500,
        quota: 1_000,
        at,
      });
      expect(one.crossings.at(-1)?.crossed.map(({ threshold }) => threshold)).to.deep.equal([
        50, 80, 95, 100,
      ]);
    });

    it("are recorded once by several instances that serve the key", async () => {
      const two = [await start({ b: 1_000 }), await start({ b: 1_000 })];
      for (let n = 0; n < 10; n++) await two[n % 2]?.serve("b", 60);
      await Promise.all(two.map(({ thresholds }) => thresholds.check()));
      await checkUntil(two, store, "b", [50]);
      for (let n = 0; n < 4; n++) await two[n % 2]?.serve("b", 100);
      await checkUntil(two, store, "b", [50, 80, 95, 100]);
    });

    it("are noticed by another instance after the one that served was killed", async () => {
      const [killed, other] = [await start({ c: 100 }), await start({ c: 100 })];
      await killed.serve("c", 80);
      killed.abandon();
      await checkUntil([other], store, "c", [50, 80]);
    });

    it("are noticed after a restart without a further request", async () => {
      const killed = await start({ d: 100 });
      await killed.serve("d", 96);
      killed.abandon();
      const next = await start({ d: 100 });
      await checkUntil([next], store, "d", [50, 80, 95]);
      expect(next.crossings.at(-1)?.crossed.map(({ threshold }) => threshold)).to.deep.equal([50, 80, 95]);
    });

    it("are noticed although earlier servings were voided", async () => {
      const one = await start({ v: 1_000 });
      const receipt = await one.serve("v", 363);
      await one.serve("v", 1);
      await one.thresholds.check();
      await one.serve("v", 140);
      void one.opened.ledger.voidServing(receipt);
      await one.opened.drained();
      await one.thresholds.check();
      expect(await reported(store, "v")).to.deep.equal([]);
      await one.serve("v", 359);
      await checkUntil([one], store, "v", [50]);
    });

    it("are each recorded once, and never before they are reached, for any usage of several instances", async () => {
      const step = fc.record({
        by: fc.nat({ max: 2 }),
        key: fc.nat({ max: 1 }),
        characters: fc.integer({ min: 1, max: 120 }),
        check: fc.option(fc.nat({ max: 2 })),
      });
      let runs = 0;
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const keys = [`x${++runs}`, `y${runs}`];
        const quotas = Object.fromEntries(keys.map((key) => [key, 1_000]));
        const three = [
          await openInstance(store, quotas),
          await openInstance(store, quotas),
          await openInstance(store, quotas),
        ];
        const used = new Map<string, number>();
        for (const { by, key, characters, check } of steps) {
          const apiKey = keys[key] as string;
          if ((used.get(apiKey) ?? 0) + characters > 1_000) continue;
          await three[by]?.serve(apiKey, characters);
          used.set(apiKey, (used.get(apiKey) ?? 0) + characters);
          if (check !== null) void three[check]?.thresholds.check();
        }
        for (const apiKey of keys) {
          const total = used.get(apiKey) ?? 0;
          const expected = quotaThresholds.filter((threshold) => hasReached(threshold, total, 1_000));
          await checkUntil(three, store, apiKey, expected);
        }
        for (const { thresholds, opened } of three) {
          thresholds.stop();
          await opened.close(5_000);
        }
      });
      await fc.assert(property, { numRuns });
      // The proof recomputes from the journals what was charged before each event.
      const check = new PostingsCheck();
      for await (const event of readSealedEvents(store, { journals: true })) check.add(event);
    });
  });
}

describe("checks for thresholds", () => {
  let store: EventStore;
  let remove: () => Promise<void>;
  let one: Instance;

  beforeEach(async () => {
    ({ store, remove } = await openTemporaryStore());
  });
  afterEach(async () => {
    one.thresholds.stop();
    await one.opened.close(5_000);
    await remove();
  });

  it("include what was served while an earlier check ran", async () => {
    const later: Promise<void>[] = [];
    const onCrossed = async () => {
      if (later.length > 0) return;
      await one.serve("s", 60);
      later.push(one.thresholds.check());
    };
    one = await openInstance(store, { r: 100, s: 100 }, { onCrossed });
    await one.serve("r", 60);
    await one.thresholds.check();
    await Promise.all(later);
    expect(await reported(store, "s")).to.deep.equal([50]);
  });

  it("report what a lower quota has exhausted, after the first request that is refused", async () => {
    const quotas = { l: 1_000 };
    one = await openInstance(store, quotas);
    const plan = { tier: "enterprise", requestsPerMinute: 1, monthlyCharacters: 500 } as const;
    const issued = { apiKey: "l", websiteId: "w", plan, at: new Date(now).toISOString() };
    await createCommandHandler({ store }).execute(
      keyDecider,
      keyStream("l"),
      (key) => issueKey(key, issued),
      {},
    );
    await one.serve("l", 600);
    await checkUntil([one], store, "l", [50]);
    quotas.l = 500;
    await one.exceedQuota("l", 1);
    await one.thresholds.check();
    expect((await crossedIn(store, "l")).map(({ threshold, quota }) => [threshold, quota])).to.deep.equal([
      [50, 1_000],
      [80, 500],
      [95, 500],
      [100, 500],
    ]);
  });

  it("continue at a shutdown until all keys are read", async () => {
    one = await openInstance(store, { t: 100, u: 100, w: 100 }, { keysPerCheck: 1 });
    for (const apiKey of ["t", "u", "w"]) await one.serve(apiKey, 60);
    await one.thresholds.close();
    for (const apiKey of ["t", "u", "w"]) expect(await reported(store, apiKey)).to.deep.equal([50]);
  });
});

describe("thresholds that a killed instance has reached", () => {
  it("are noticed by an instance whose event store refused appends when it started", async () => {
    const { store: real, remove } = await openTemporaryStore();
    let refusesAppends = true;
    const store: EventStore = {
      ...real,
      append: async (...args) => {
        if (refusesAppends) throw new EventStoreUnavailable("down");
        return await real.append(...args);
      },
    };
    const killed = await openInstance(real, { d: 100 });
    await killed.serve("d", 96);
    killed.abandon();
    const handler = createCommandHandler({ store, deadlineMs: 1 });
    const one = await openInstance(store, { d: 100 }, {}, { handler, onError: () => {} });
    refusesAppends = false;
    await checkUntil([one], real, "d", [50, 80, 95]);
    for (const { thresholds, opened } of [one, killed]) {
      thresholds.stop();
      await opened.close(5_000);
    }
    await remove();
  });
});

describe("the cost of noticing thresholds", () => {
  it("is no read for keys without a quota, nor for those that have reserved less than the next threshold", async () => {
    const { store, remove } = await openTemporaryStore();
    const one = await openInstance(store, { free: null, low: 1_000 });
    await one.serve("free", 5_000);
    await one.serve("unknown", 5_000);
    await one.serve("low", 10);
    await one.thresholds.check();
    expect(one.reads).to.deep.equal([]);
    for (let n = 0; n < 20; n++) {
      await one.serve("low", 20);
      await one.thresholds.check();
    }
    expect(one.reads.length).to.be.at.most(3);
    expect(await reported(store, "low")).to.deep.equal([]);
    one.thresholds.stop();
    await one.opened.close(5_000);
    await remove();
  });

  it("is one read of the servings before the start, and none of later ones", async () => {
    const { store: real, remove } = await openTemporaryStore();
    let readEvents = 0;
    const store: EventStore = {
      ...real,
      readStream: async function* (stream, options) {
        for await (const event of real.readStream(stream, options)) {
          const isOfTail = event.type === "SynthesesServed" && options?.direction !== "backwards";
          if (isOfTail) readEvents += 1;
          yield event;
        }
      },
    };
    const earlier = await openInstance(real, {});
    for (let n = 0; n < 3; n++) await earlier.serve("free", 1);
    const one = await openInstance(store, {});
    await one.thresholds.check(); // the read at the start has ended
    for (let n = 0; n < 20; n++) await earlier.serve("free", 1);
    for (let n = 0; n < 20; n++) await one.serve("free", 1);
    for (let n = 0; n < 3; n++) await one.thresholds.check();
    expect(readEvents).to.be.within(3, 4); // and the event that ends the read
    for (const { thresholds, opened } of [one, earlier]) {
      thresholds.stop();
      await opened.close(5_000);
    }
    await remove();
  });

  it("is repeated after a failure of the event store, which is reported", async () => {
    const { store: real, remove } = await openTemporaryStore();
    const store = disturbedStore(real);
    const one = await openInstance(store, { e: 100 });
    await one.serve("e", 60);
    store.readsFail = true;
    await one.thresholds.check();
    expect(one.errors).to.have.length(1);
    store.readsFail = false;
    await checkUntil([one], real, "e", [50]);
    one.thresholds.stop();
    await one.opened.close(5_000);
    await remove();
  });
});

describe("the schedule of checks of thresholds", () => {
  const temporary = duringTest(openTemporaryStore);
  let thresholds: QuotaThresholds;
  let time: ReturnType<typeof createManualTime>;
  let checkMs: number;
  let failure: Error | undefined;
  let checks: number;

  beforeEach(async () => {
    time = createManualTime();
    checks = 0;
    failure = undefined;
    const store: EventStore = {
      ...temporary.store,
      readStream: (stream, options) => {
        if (stream !== `quota-a-${month}`) return temporary.store.readStream(stream, options);
        checks += 1;
        time.advance(checkMs);
        if (failure) throw failure;
        return temporary.store.readStream(stream, options);
      },
    };
    thresholds = new QuotaThresholds({
      store,
      handler: createCommandHandler({ store, clock: () => now }),
      usage: createUsageReader({ store }),
      quotaOf: () => 1_000,
      onCrossed: async () => {},
      clock: () => now,
      time,
      onError: () => {},
    });
  });
  afterEach(async () => {
    thresholds.stop();
  });

  /** Waits for the check that is due after this pause, and not before. It takes this time. */
  const checkAfter = async (pauseMs: number, durationMs: number): Promise<void> => {
    checkMs = durationMs;
    thresholds.recheck("a");
    await until(() => time.waiting() === 1);
    const before = checks;
    time.advance(pauseMs - 1);
    await until(() => time.waiting() === 1);
    expect(checks).to.equal(before);
    time.advance(1);
    await until(() => checks > before);
  };

  it("pauses for ten seconds", async () => {
    for (let n = 0; n < 3; n++) await checkAfter(10_000, 400);
  });

  it("pauses twenty times as long as a slow check, at most ten minutes", async () => {
    await checkAfter(10_000, 1_500);
    await checkAfter(30_000, 60_000);
    await checkAfter(600_000, 0);
    await checkAfter(10_000, 0);
  });

  it("pauses for ten seconds after a check that has failed, however long it took", async () => {
    failure = new EventStoreUnavailable("the event store is unavailable");
    await checkAfter(10_000, 60_000);
    failure = undefined;
    await checkAfter(10_000, 0);
  });
});
