import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import type { MonthlyUsage } from "../../../projections/monthly-quota.ts";
import type { View } from "../../../projections/runner/runner.ts";
import { createWarmUsage } from "../../../src/application/usage/warm-usage.ts";
import {
  evolveUsage,
  type Idempotency,
  initialUsage,
  QuotaExceeded,
  recordServing,
  type ServedEvent,
  type SynthesisServed,
  type Usage,
  usageDecider,
} from "../../../src/domain/usage/usage.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";

const start = Date.parse("2026-11-10T10:00:00.000Z");

const answer = (hash: string, at: number, over: Partial<SynthesisServed> = {}): SynthesisServed => ({
  requestId: "r",
  hash,
  characters: 10,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "memory",
  at: new Date(at).toISOString(),
  ...over,
});

/** The view after these events. */
const viewAfter = (stream: string, events: readonly ServedEvent[]): View<MonthlyUsage> => {
  const used = events.reduce((sum, { data }) => sum + data.characters, 0);
  const keyed = events.filter(({ data }) => data.idempotency).map(({ data }) => Date.parse(data.at));
  const keyedAt = Math.max(0, ...keyed);
  const state = { used, requests: events.length, keyedAt, revision: events.length - 1 };
  const partitions = new Map(events.length > 0 ? [[stream, state]] : []);
  return {
    get: (name) => partitions.get(name),
    entries: () => partitions.entries(),
    size: partitions.size,
  };
};

describe("usage loaded from the view's snapshot", () => {
  let temporary: TemporaryStore;
  before(async () => {
    temporary = await openTemporaryStore();
  });
  after(() => temporary.remove());

  const append = async (stream: string, events: readonly ServedEvent[]): Promise<void> => {
    if (events.length === 0) return;
    const all = events.map(({ type, data }) => ({ id: randomUUID(), type, data, metadata: {} }));
    await temporary.store.append(stream, all, "none");
  };

  it("leads to the same decisions as the whole month, for any lag of the view", async () => {
    const hash = fc.constantFrom("a", "b", "c");
    const idempotency = fc.option(
      fc.constantFrom("i", "j").map((key) => ({ key, request: "same" })),
      { nil: undefined },
    );
    const wait = fc.oneof(fc.nat(240_000), fc.nat(12 * 60 * 60_000));
    const request = fc.record({ hash, partial: fc.boolean(), idempotency, wait });
    const optional = ({
      partial,
      idempotency: value,
    }: {
      partial: boolean;
      idempotency?: Idempotency | undefined;
    }) => ({
      ...(partial && { partial: true as const }),
      ...(value && { idempotency: value }),
    });
    const history = fc.array(request, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(history, fc.nat(30), request, fc.nat(300), async (past, lag, next, quota) => {
        const stream = `usage-${randomUUID()}-2026-11`;
        let now = start;
        let whole: Usage = initialUsage();
        const events: ServedEvent[] = [];
        for (const one of past) {
          now += one.wait;
          const [event] = recordServing(whole, answer(one.hash, now, optional(one)), null) as [ServedEvent];
          whole = evolveUsage(whole, event);
          events.push(event);
        }
        await append(stream, events);
        now += next.wait;
        const quotas = viewAfter(stream, events.slice(0, Math.max(0, events.length - lag)));
        const { store } = temporary;
        const warm = createWarmUsage({ store, quotas, clock: () => now });
        const handler = createCommandHandler({ store, readSnapshot: warm });
        const decide = (usage: Usage) => recordServing(usage, answer(next.hash, now, optional(next)), quota);
        const outcome = await handler.execute(usageDecider, stream, decide, {}).catch((error) => error);
        try {
          const expected = decide(whole);
          expect(outcome.events).to.deep.equal(expected);
          expect(outcome.state.used).to.equal(whole.used + (expected[0]?.data.characters ?? 0));
        } catch (error) {
          if (!(error instanceof QuotaExceeded)) throw error;
          expect(outcome).to.be.instanceOf(QuotaExceeded).with.property("used", whole.used);
        }
      }),
      { numRuns: 100 },
    );
  }).timeout(60_000);

  it("reads only the recent events of a long month", async () => {
    const stream = `usage-${randomUUID()}-2026-11`;
    const events = Array.from(
      { length: 2_000 },
      (_, index): ServedEvent => ({
        type: "SynthesisServed",
        data: answer(`h${index}`, start + index * 10_000),
      }),
    );
    await append(stream, events);
    let read = 0;
    const store: EventStore = {
      ...temporary.store,
      readStream: async function* (...args) {
        for await (const event of temporary.store.readStream(...args)) {
          read += 1;
          yield event;
        }
      },
    };
    const now = start + 2_000 * 10_000;
    const warm = createWarmUsage({ store, quotas: viewAfter(stream, events), clock: () => now });
    const handler = createCommandHandler({ store, readSnapshot: warm });
    const { state } = await handler.execute(usageDecider, stream, () => [], {});
    expect(state.used).to.equal(20_000);
    expect(read).to.be.below(100);
  });

  it("has no snapshot for streams that the view does not contain", async () => {
    const warm = createWarmUsage({
      store: temporary.store,
      quotas: viewAfter("usage-x-2026-11", []),
      clock: () => start,
    });
    expect(await warm("key-x")).to.equal(undefined);
    expect(await warm("usage-x-2026-11")).to.equal(undefined);
  });
});
