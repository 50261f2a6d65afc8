import { expect } from "chai";
import { monthlyQuota } from "../../../projections/monthly-quota.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../../projections/runner/runner.ts";
import type { Principal } from "../../../src/application/access/principal.ts";
import { createDelivery, type Streaming } from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import { createLedger } from "../../../src/application/usage/ledger.ts";
import type { Voiding } from "../../../src/application/usage/voiding.ts";
import type { Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import { EngineFailed, KeyIsSuspended, NotFound } from "../../../src/domain/errors.ts";
import { type CommandHandler, createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { openVoiding } from "../../support/voiding.ts";

const at = "2026-11-21T10:00:00.000Z";
const never = new AbortController().signal;
const plan = { tier: "enterprise", requestsPerMinute: 1_000, monthlyCharacters: 15 } as const;
const principal: Principal = {
  apiKey: "k",
  websiteId: "w",
  plan,
  proof: { by: "secret", secretId: "s" },
};
const order = { principal, requestId: "r", kind: "sse" } as const;
const planOf = (engine: "gwn" | "g1", characters = 10): SynthesisPlan => ({
  characters,
  silent: false,
  renditions: [renditionOf("Hello.", { engine, websiteId: "w" })],
  catalogRevision: "1",
  shared: false,
});

describe("streaming", () => {
  let temporary: TemporaryStore;
  let handler: CommandHandler;
  let runner: ProjectionRunner;
  let streaming: Streaming;
  let voiding: Voiding;
  let begun: AbortSignal[];
  let source: (signal: AbortSignal) => AsyncIterable<Buffer>;

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    const { store } = temporary;
    handler = createCommandHandler({ store });
    runner = createProjectionRunner({ store, projections: [monthlyQuota] });
    await runner.start();
    const issued = { apiKey: "k", websiteId: "w", plan, at };
    await handler.execute(keyDecider, keyStream("k"), (state) => issueKey(state, issued), {});
    begun = [];
    source = async function* () {
      yield Buffer.from("one ");
      yield Buffer.from("two");
    };
    const notUsed = (): never => {
      throw new Error("not used by streams");
    };
    const pipeline: Pick<Pipeline, "fromMemory" | "fromCache" | "obtain" | "stream"> = {
      fromMemory: notUsed,
      fromCache: notUsed,
      obtain: notUsed,
      stream: async ([rendition], signal) => {
        if (!rendition) throw new TypeError("no rendition");
        begun.push(signal);
        return { rendition, failed: [], provenance: "miss", audio: source(signal) };
      },
    };
    const quotas = runner.view(monthlyQuota);
    const clock = () => Date.parse(at);
    voiding = openVoiding(store, clock);
    const ledger = createLedger({ handler, views: runner, quotas, voiding, clock });
    streaming = createDelivery({ pipeline, ledger, onError: (_, error) => Promise.reject(error) });
  });
  afterEach(async () => {
    await runner.close();
    await temporary.remove();
  });

  const ledger = async (): Promise<object[]> => {
    await handler.drain();
    await voiding.settled();
    const all: object[] = [];
    for await (const { type, data } of temporary.store.readStream("usage-k-2026-11")) {
      all.push({ type, ...data });
    }
    return all;
  };
  const served = { type: "SynthesisServed", requestId: "r", characters: 10, engine: "gwn", stream: "sse" };
  const ended = { type: "StreamEnded", requestId: "r", at };

  it("records the serving before the first bytes, and the end with the delivered bytes", async () => {
    const { audio, contentType, prosodyApplied } = await streaming.begin(planOf("gwn"), order, never);
    expect({ contentType, prosodyApplied }).to.deep.equal({
      contentType: "audio/mpeg",
      prosodyApplied: ["rate"],
    });
    const [first, ...none] = await ledger();
    expect(first).to.include(served);
    expect(none).to.deep.equal([]);
    expect(Buffer.concat(await collect(audio)).toString()).to.equal("one two");
    expect((await ledger())[1]).to.include({ ...ended, outcome: "whole", bytes: 7, chunks: 2 });
  });

  it("records the delivered bytes when the client disconnects, and charges in full", async () => {
    const { audio, delivered } = await streaming.begin(planOf("gwn"), order, never);
    delivered();
    let heard = 0;
    for await (const _ of audio) if (++heard === 2) break;
    const [, last, ...none] = await ledger();
    expect(last).to.include({ ...ended, outcome: "left", bytes: 4, chunks: 1 });
    expect(none).to.deep.equal([]);
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a client that disconnected before reading", async () => {
    const leaving = new AbortController();
    await streaming.begin(planOf("gwn"), order, leaving.signal);
    leaving.abort(new Error("left"));
    expect((await ledger())[1]).to.include({ ...ended, outcome: "left", bytes: 0, chunks: 0 });
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a client that disconnected while the serving was recorded", async () => {
    const leaving = new AbortController();
    const stream = streaming.begin(planOf("gwn"), order, leaving.signal);
    while (begun.length === 0) await Promise.resolve(); // microtasks only: the ledger must not finish
    leaving.abort(new Error("left"));
    expect(await rejection(stream)).to.have.property("message", "left");
    const [first, last] = await ledger();
    expect(first).to.include(served);
    expect(last).to.include({ ...ended, outcome: "left", bytes: 0, chunks: 0 });
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a failure during the stream", async () => {
    source = async function* () {
      yield Buffer.from("one ");
      throw new EngineFailed("It broke off.");
    };
    const { audio } = await streaming.begin(planOf("gwn"), order, never);
    expect(await rejection(collect(audio))).to.be.instanceOf(EngineFailed);
    expect((await ledger())[1]).to.include({ ...ended, outcome: "failed", bytes: 4, chunks: 1 });
  });

  it("is voided when it fails before any audio was delivered", async () => {
    source = async function* () {
      if (begun.length > 0) throw new EngineFailed("It broke off.");
      yield Buffer.alloc(0);
    };
    const { audio } = await streaming.begin(planOf("gwn"), order, never);
    await rejection(collect(audio));
    const [, failed, voided] = await ledger();
    expect(failed).to.include({ ...ended, outcome: "failed", chunks: 0 });
    expect(voided).to.include({ type: "ServingVoided", requestId: "r", characters: 10, at });
  });

  it("is charged when it fails after its first audio was delivered", async () => {
    source = async function* () {
      yield Buffer.from("one ");
      throw new EngineFailed("It broke off.");
    };
    const { audio, delivered } = await streaming.begin(planOf("gwn"), order, never);
    await rejection(
      (async () => {
        for await (const _ of audio) delivered();
      })(),
    );
    expect((await ledger()).map((event) => (event as { type: string }).type)).to.deep.equal([
      "SynthesisServed",
      "StreamEnded",
    ]);
  });

  it("does not start without quota, and stops when the ledger refuses it", async () => {
    expect(await rejection(streaming.begin(planOf("gwn", 16), order, never))).to.be.instanceOf(
      KeyIsSuspended,
    );
    expect(begun).to.deep.equal([]);
  });

  it("aborts the synthesis when the ledger refuses the serving", async () => {
    const both = [planOf("gwn"), planOf("gwn")].map((each) => streaming.begin(each, order, never));
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
    expect(begun.filter(({ aborted }) => aborted)).to.have.length(1);
  });

  it("accepts only BYOK engines, also for silence", async () => {
    expect(await rejection(streaming.begin(planOf("g1"), order, never))).to.be.instanceOf(NotFound);
    expect(() => streaming.requireProvider({ ...planOf("g1"), silent: true })).to.throw(NotFound, /g1/);
    streaming.requireProvider(planOf("gwn"));
  });
});
