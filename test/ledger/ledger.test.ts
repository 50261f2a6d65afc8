import { expect } from "chai";
import { changePlan, issueKey, type Key, keyDecider, keyStream } from "../../src/domain/accounts/key.ts";
import type { Plan } from "../../src/domain/accounts/plan.ts";
import { Invalid, KeyIsSuspended, Unavailable } from "../../src/domain/errors.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import type { OpenLedger } from "../../src/ledger/open-ledger.ts";
import { createManualTime, until } from "../support/manual-time.ts";
import { testPrincipal } from "../support/principal.ts";
import { rejection } from "../support/rejection.ts";
import { servedAudio } from "../support/served-audio.ts";
import { openTemporaryStore, type TemporaryStore } from "../support/temporary-store.ts";
import { openTestLedger, readLedger, record } from "../support/test-ledger.ts";
import { disturbedStore } from "./disturbed-store.ts";

const dayMs = 24 * 60 * 60_000;
const start = Date.parse("2026-11-21T10:00:00.000Z");
const at = new Date(start).toISOString();
const plan = (monthlyCharacters: number | null): Plan => ({
  tier: "enterprise",
  requestsPerMinute: 1_000,
  monthlyCharacters,
});
const principal = (monthlyCharacters: number | null) => testPrincipal({ monthlyCharacters });
const whole = { requestId: "r", characters: 11 };
const never = new AbortController().signal;
const part = { partial: true, cached: "memory" } as const;

/** Delivers no events until `released` resolves. */
const withSubscriptionsHeld = (store: EventStore, released: Promise<void>): EventStore => ({
  ...store,
  async *subscribe(options) {
    for await (const batch of store.subscribe(options)) {
      await released;
      yield batch;
    }
  },
});

describe("the ledger", () => {
  let temporary: TemporaryStore;
  let opened: OpenLedger;
  let now: number;
  const clock = () => now;
  const key = async (): Promise<Key> =>
    (await createCommandHandler(temporary).execute(keyDecider, keyStream("k"), () => [], {})).state;
  const execute = (decide: (state: Key) => ReturnType<typeof issueKey> | ReturnType<typeof changePlan>) =>
    createCommandHandler(temporary).execute(keyDecider, keyStream("k"), decide, {});
  const characters = async (): Promise<number[]> =>
    (await readLedger(temporary.store)).servings.map((one) => one.characters);

  beforeEach(async () => {
    now = start;
    temporary = await openTemporaryStore();
    await execute((state) => issueKey(state, { apiKey: "k", websiteId: "w", plan: plan(15), at }));
    opened = await openTestLedger(temporary.store, clock);
  });
  afterEach(async () => {
    await opened.close(0);
    await temporary.remove();
  });

  it("records the serving and its time before it responds", async () => {
    const { serving } = await record(opened.ledger, principal(15), servedAudio());
    expect(serving).to.deep.equal({ apiKey: "k", ...servedAudio() });
    expect((await readLedger(temporary.store)).servings).to.deep.equal([
      { apiKey: "k", ...servedAudio(), at },
    ]);
  });

  it("refuses a request that would exceed the quota and suspends the key", async () => {
    await record(opened.ledger, principal(15), servedAudio());
    const refused = await rejection(record(opened.ledger, principal(15), servedAudio({ requestId: "r-2" })));
    expect(refused).to.be.instanceOf(KeyIsSuspended);
    expect(await key()).to.include({ status: "suspended", cause: "quota" });
    expect(await characters()).to.deep.equal([11]);
  });

  it("counts each month separately", async () => {
    await record(opened.ledger, principal(15), servedAudio());
    now = Date.parse("2026-12-01T00:00:00.000Z");
    await record(opened.ledger, principal(15), servedAudio());
    expect(await characters()).to.deep.equal([11, 11]);
    expect((await key()).status).to.equal("active");
  });

  it("serves every character of the quota from two instances", async () => {
    const other = await openTestLedger(temporary.store, clock);
    for (let n = 0; n < 10; n++) {
      const { ledger } = n % 2 === 0 ? opened : other;
      await record(ledger, principal(100), servedAudio({ requestId: `r-${n}`, characters: 10 }));
    }
    const refused = await rejection(record(other.ledger, principal(100), servedAudio({ characters: 1 })));
    expect(refused).to.be.instanceOf(KeyIsSuspended);
    expect((await characters()).reduce((sum, one) => sum + one, 0)).to.equal(100);
    await other.close(0);
  });

  it("does not suspend a key whose plan was raised meanwhile, and fails as unavailable", async () => {
    await execute((state) => changePlan(state, { plan: plan(1_000), at }));
    expect(await rejection(record(opened.ledger, principal(5), servedAudio()))).to.be.instanceOf(Unavailable);
    expect((await key()).status).to.equal("active");
  });

  it("charges nothing for a part within ten minutes after the whole, on every instance", async () => {
    await record(opened.ledger, principal(null), servedAudio());
    await record(opened.ledger, principal(null), servedAudio({ requestId: "r-2", ...part }));
    const other = await openTestLedger(temporary.store, clock);
    await record(other.ledger, principal(null), servedAudio({ requestId: "r-3", ...part }));
    now += 10 * 60_000 + 1;
    await record(opened.ledger, principal(null), servedAudio({ requestId: "r-4", ...part }));
    expect((await characters()).sort()).to.deep.equal([0, 0, 11, 11]);
    await other.close(0);
  });

  it("charges nothing for a part that follows another instance's charge at once", async () => {
    const gate = Promise.withResolvers<void>();
    const other = await openTestLedger(withSubscriptionsHeld(temporary.store, gate.promise), clock);
    await record(opened.ledger, principal(11), servedAudio());
    const isKnown = other.ledger.wasChargedByAny("k", [servedAudio().hash]);
    const recorded = record(other.ledger, principal(null), servedAudio({ requestId: "r-2", ...part }));
    gate.resolve();
    expect(await isKnown).to.equal(true);
    expect((await recorded).serving.characters).to.equal(0);
    await other.close(0);
  });

  it("charges nothing for a part after another instance's charge and shutdown", async () => {
    const gate = Promise.withResolvers<void>();
    const other = await openTestLedger(withSubscriptionsHeld(temporary.store, gate.promise), clock);
    await record(opened.ledger, principal(11), servedAudio());
    await opened.close(1_000);
    const recorded = record(other.ledger, principal(null), servedAudio({ requestId: "r-2", ...part }));
    gate.resolve();
    expect((await recorded).serving.characters).to.equal(0);
    await other.close(0);
  });

  it("refuses a part as unavailable when the other journals cannot be followed", async () => {
    const time = createManualTime();
    const gate = Promise.withResolvers<void>();
    const store = withSubscriptionsHeld(temporary.store, gate.promise);
    const other = await openTestLedger(store, clock, { time });
    await record(opened.ledger, principal(11), servedAudio());
    const idle = time.waiting();
    const refused = rejection(
      record(other.ledger, principal(null), servedAudio({ requestId: "r-2", ...part })),
    );
    await until(() => time.waiting() > idle);
    time.advance(5_000);
    expect(await refused).to.be.instanceOf(Unavailable);
    expect(await refused).to.match(/other instances/);
    expect(await characters()).to.deep.equal([11]);
    gate.resolve();
    await Promise.all([other.close(0), time.advance(0)]);
  });

  it("records the repeat of a part while the other journals cannot be followed", async () => {
    const gate = Promise.withResolvers<void>();
    const store = withSubscriptionsHeld(temporary.store, gate.promise);
    const other = await openTestLedger(store, clock, { time: createManualTime() });
    const idempotency = { key: "i", request: "same" };
    await record(opened.ledger, principal(11), servedAudio({ partial: true, idempotency }));
    const repeat = servedAudio({ requestId: "r-2", partial: true, idempotency });
    expect((await record(other.ledger, principal(11), repeat)).serving).to.include({ repeat: true });
    expect((await characters()).sort()).to.deep.equal([0, 11]);
    gate.resolve();
    await other.close(0);
  });

  it("records the end of a stream and voids a serving without audio", async () => {
    const receipt = await record(opened.ledger, principal(15), servedAudio({ stream: "sse" }));
    const hash = receipt.serving.hash;
    opened.ledger.recordStreamEnd(receipt, { hash, outcome: "left", bytes: 0, chunks: 0 });
    void opened.ledger.voidServing(receipt);
    await opened.drained();
    const { streams, voided } = await readLedger(temporary.store);
    expect(streams[0]).to.include({ requestId: "r-1", outcome: "left" });
    expect(voided[0]).to.include({ requestId: "r-1", characters: 11, reason: "unanswered", servedAt: at });
    await record(opened.ledger, principal(15), servedAudio({ requestId: "r-2", characters: 15 }));
  });

  it("voids a serving of a journal that is closed", async () => {
    const receipt = await record(opened.ledger, principal(15), servedAudio());
    await opened.close(1_000);
    opened = await openTestLedger(temporary.store, clock);
    void opened.ledger.voidServing(receipt);
    await opened.drained();
    const { voided } = await readLedger(temporary.store);
    expect(voided[0]).to.include({ requestId: "r-1", journal: receipt.journal });
    await record(opened.ledger, principal(15), servedAudio({ requestId: "r-2", characters: 15 }));
  });

  describe("with an Idempotency-Key", () => {
    const keyed = (requestId: string, request = "same") =>
      servedAudio({ requestId, idempotency: { key: "i", request } });

    it("reports the charge of a serving that becomes durable after its deadline: a repeat may keep it", async () => {
      const store = disturbedStore(temporary.store);
      const time = createManualTime();
      const charged: number[] = [];
      const onCharged = (_key: string, _month: string, spent: number) => void charged.push(spent);
      const late = await openTestLedger(store, clock, { time, deadlineMs: 1_000, onCharged });
      (await late.ledger.admit(principal(15), whole, never)).release();
      store.hold();
      const refused = rejection(record(late.ledger, principal(15), keyed("r-1")));
      await until(() => store.held === 1);
      time.advance(1_000);
      expect(await refused).to.be.instanceOf(Unavailable);
      expect(charged).to.deep.equal([]);
      store.release();
      await until(() => charged.length > 0);
      expect(charged).to.deep.equal([11]);
      void late.close(0);
    });

    it("charges a repeated request once, also on another instance", async () => {
      const other = await openTestLedger(temporary.store, clock);
      await record(opened.ledger, principal(11), keyed("r-1"));
      await record(opened.ledger, principal(11), keyed("r-2"));
      now += dayMs;
      const repeated = { ...whole, idempotency: { key: "i", request: "same" } };
      expect((await other.ledger.admit(principal(11), repeated, never)).isRepeat).to.equal(true);
      await record(other.ledger, principal(11), keyed("r-3"));
      expect((await characters()).sort()).to.deep.equal([0, 0, 11]);
      await other.close(0);
    });

    it("refuses the key for a different request, both in the quota check and when recording", async () => {
      await record(opened.ledger, principal(null), keyed("r-1"));
      const idempotency = { key: "i", request: "another" };
      const check = opened.ledger.admit(principal(null), { ...whole, idempotency }, never);
      expect(await rejection(check)).to.be.instanceOf(Invalid);
      const again = record(opened.ledger, principal(null), keyed("r-2", "another"));
      expect(await rejection(again)).to.be.instanceOf(Invalid);
    });

    it("charges one of two concurrent requests on two instances", async () => {
      const other = await openTestLedger(temporary.store, clock);
      await Promise.all([
        record(opened.ledger, principal(null), keyed("r-1")),
        record(other.ledger, principal(null), keyed("r-2")),
      ]);
      await Promise.all([opened.drained(), other.drained()]);
      const { servings, voided } = await readLedger(temporary.store);
      const returned = voided.reduce((sum, one) => sum + one.characters, 0);
      expect(servings.reduce((sum, one) => sum + one.characters, 0) - returned).to.equal(11);
      expect(voided.filter(({ reason }) => reason !== "repeat")).to.deep.equal([]);
      await other.close(0);
    });

    it("voids the slower of two concurrent requests once, also when neither caller received audio", async () => {
      const other = await openTestLedger(temporary.store, clock);
      const ledgers = [opened.ledger, other.ledger];
      const receipts = await Promise.all(
        ledgers.map((ledger, n) => record(ledger, principal(null), keyed(`r-${n}`))),
      );
      for (const [n, receipt] of receipts.entries()) ledgers[n]?.voidServing(receipt);
      await Promise.all([opened.drained(), other.drained()]);
      const { voided } = await readLedger(temporary.store);
      expect(voided.map(({ characters, reason }) => [characters, reason])).to.deep.equal([[11, "repeat"]]);
      await other.close(0);
    });

    it("charges the next request if the first one is voided, unless a repeat was served", async () => {
      const first = await record(opened.ledger, principal(null), keyed("r-1"));
      void opened.ledger.voidServing(first);
      await opened.drained();
      const second = await record(opened.ledger, principal(null), keyed("r-2"));
      await record(opened.ledger, principal(null), keyed("r-3"));
      void opened.ledger.voidServing(second);
      await opened.drained();
      expect(await characters()).to.deep.equal([11, 11, 0]);
      expect((await readLedger(temporary.store)).voided).to.have.length(1);
    });
  });

  describe("checked before synthesis", () => {
    it("admits a request within the quota without recording it", async () => {
      await opened.ledger.admit(principal(15), whole, never);
      await opened.ledger.admit(principal(null), { ...whole, characters: 1e9 }, never);
      expect(await characters()).to.deep.equal([]);
    });

    it("refuses a request beyond the quota and suspends the key", async () => {
      await record(opened.ledger, principal(15), servedAudio());
      const refused = await rejection(opened.ledger.admit(principal(15), whole, never));
      expect(refused).to.be.instanceOf(KeyIsSuspended);
      expect((await key()).status).to.equal("suspended");
    });

    it("admits a free part when the quota is full", async () => {
      await record(opened.ledger, principal(11), servedAudio());
      await opened.ledger.admit(principal(11), { ...whole, characters: 0 }, never);
      await record(opened.ledger, principal(11), servedAudio({ requestId: "r-2", ...part }));
      expect(await characters()).to.deep.equal([11, 0]);
      expect((await key()).status).to.equal("active");
    });
  });
});
