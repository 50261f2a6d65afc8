import { expect } from "chai";
import type { VoidedServing } from "../../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { createIdempotencyKeys } from "../../../src/ledger/idempotency/idempotency-keys.ts";
import { createRecoverIdempotencyKeys } from "../../../src/ledger/idempotency/recover-idempotency-keys.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { duringTest } from "../../support/during.ts";
import { testPrincipal } from "../../support/principal.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const principal = testPrincipal();
const keyed = (requestId: string) =>
  servedAudio({ requestId, idempotency: { key: "digest", request: "parameters" } });

describe("the recovery of servings with an Idempotency-Key", () => {
  const temporary = duringTest(openTemporaryStore);
  let gone: OpenLedger;
  let journal: string;
  let now: number;
  let voids: VoidedServing[];
  const clock = () => now;

  /**
   * The store of a process that is killed after it has charged, and before it records the use of
   * the key: that append never arrives.
   */
  const storeOfCrash = (store: EventStore, charged: () => void): EventStore => ({
    ...store,
    append: async (stream, events, expected) => {
      if (!stream.startsWith("idempotency-")) return await store.append(stream, events, expected);
      charged();
      throw new EventStoreUnavailable("the process is gone");
    },
  });

  beforeEach(async () => {
    now = start;
    voids = [];
    const charged = Promise.withResolvers<void>();
    gone = await openTestLedger(storeOfCrash(temporary.store, charged.resolve), clock, { onError: () => {} });
    ({ journal } = await record(gone.ledger, principal, servedAudio({ requestId: "r-0" })));
    record(gone.ledger, principal, keyed("first")).catch(() => {});
    await charged.promise;
  });
  afterEach(async () => {
    await gone.close(0);
  });

  const recover = (): Promise<void> => {
    const handler = createCommandHandler({ store: temporary.store, clock });
    const idempotencyKeys = createIdempotencyKeys({ handler, clock });
    const onVoided = (some: readonly VoidedServing[]) => voids.push(...some);
    return createRecoverIdempotencyKeys({ store: temporary.store, idempotencyKeys, clock, onVoided })(
      journal,
    );
  };

  it("makes a later repeat free", async () => {
    await recover();
    await recover();
    const other = await openTestLedger(temporary.store, clock);
    const { serving } = await record(other.ledger, principal, keyed("second"));
    expect(serving).to.include({ characters: 0, repeat: true });
    expect(voids).to.deep.equal([]);
    await other.close(5_000);
  });

  it("voids the charge once if a repeat was charged before", async () => {
    const other = await openTestLedger(temporary.store, clock);
    const { serving } = await record(other.ledger, principal, keyed("second"));
    expect(serving.characters).to.equal(11);
    await Promise.all([recover(), recover()]);
    await recover();
    const { apiKey, characters, hash, engine, voice } = { ...keyed("first"), apiKey: "k" };
    const servedAt = new Date(start).toISOString();
    const expected = { apiKey, requestId: "first", characters, hash, engine, voice, servedAt, journal };
    expect(voids).to.deep.equal([{ ...expected, reason: "repeat" }]);
    await other.close(5_000);
  });

  it("leaves a charge of more than 24 hours ago", async () => {
    now = start + 24 * 60 * 60_000 + 1;
    await recover();
    const other = await openTestLedger(temporary.store, clock);
    expect((await record(other.ledger, principal, keyed("second"))).serving.characters).to.equal(11);
    await other.close(5_000);
  });
});
