import { expect } from "chai";
import { createDelivery, type Streaming } from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import type { Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import {
  EngineFailed,
  KeyIsSuspended,
  NotFound,
  ReadersStalled,
  SpeechTooLong,
  Unavailable,
} from "../../../src/domain/errors.ts";
import { type CommandHandler, createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger } from "../../support/test-ledger.ts";
import { testLimits } from "../../support/test-limits.ts";

const at = "2026-11-21T10:00:00.000Z";
const never = new AbortController().signal;
const principal = testPrincipal({ monthlyCharacters: 15 });
const order = { principal, requestId: "r", kind: "sse" } as const;
const planOf = (engine: "gwn" | "g1", characters = 10): SynthesisPlan => ({
  characters,
  muted: false,
  renditions: [renditionOf("Hello.", { engine, websiteId: "w" })],
  catalogRevision: "1",
  shared: false,
});

describe("streaming", () => {
  const temporary = duringTest(openTemporaryStore);
  let handler: CommandHandler;
  let opened: OpenLedger;
  let streaming: Streaming;
  let deliveryOf: (ledger: Ledger) => Streaming;
  let begun: AbortSignal[];
  let onBegin: () => void | Promise<void>;
  let source: (signal: AbortSignal) => AsyncIterable<Buffer>;

  beforeEach(async () => {
    const { store } = temporary;
    handler = createCommandHandler({ store });
    const issued = { apiKey: "k", websiteId: "w", plan: principal.plan, at };
    await handler.execute(keyDecider, keyStream("k"), (state) => issueKey(state, issued), {});
    begun = [];
    onBegin = () => {};
    source = async function* () {
      yield Buffer.from("one ");
      yield Buffer.from("two");
    };
    const notUsed = (): never => {
      throw new Error("not used by streams");
    };
    const pipeline: Pick<
      Pipeline,
      "fromMemory" | "fromCache" | "statRendition" | "obtain" | "asKept" | "stream"
    > = {
      fromMemory: notUsed,
      fromCache: notUsed,
      statRendition: notUsed,
      obtain: notUsed,
      asKept: notUsed,
      stream: async ([rendition], signal, _apiKey, onEngineJob) => {
        if (!rendition) throw new TypeError("no rendition");
        onEngineJob?.({ rendition, hasBegun: true }, "miss");
        begun.push(signal);
        await onBegin();
        return { rendition, failed: [], source: "miss", audio: source(signal), memory: Buffer.alloc(0) };
      },
    };
    opened = await openTestLedger(store, () => Date.parse(at), { handler });
    deliveryOf = (recording) =>
      createDelivery({ pipeline, ledger: recording, departures: testLimits().departures });
    streaming = deliveryOf(opened.ledger);
  });
  afterEach(async () => {
    await opened.close(0);
  });

  const ledger = async () => {
    await opened.drained();
    return await readLedger(temporary.store);
  };
  const served = { requestId: "r", characters: 10, engine: "gwn", stream: "sse" };
  const ended = { requestId: "r", at };

  it("records the serving before the first bytes, and the end with the delivered bytes", async () => {
    const { audio, ...begun } = await streaming.begin(planOf("gwn"), order, never);
    expect(begun).to.deep.include({ contentType: "audio/mpeg", prosodyApplied: ["rate"], characters: 10 });
    const { servings, streams } = await ledger();
    expect(servings[0]).to.include(served);
    expect(streams).to.deep.equal([]);
    expect(Buffer.concat(await collect(audio)).toString()).to.equal("one two");
    expect((await ledger()).streams[0]).to.include({ ...ended, outcome: "whole", bytes: 7, chunks: 2 });
  });

  it("records the delivered bytes when the client disconnects, and charges in full", async () => {
    const { audio, delivered } = await streaming.begin(planOf("gwn"), order, never);
    delivered();
    let chunks = 0;
    for await (const _ of audio) if (++chunks === 2) break;
    const { streams, voided } = await ledger();
    expect(streams[0]).to.include({ ...ended, outcome: "left", bytes: 4, chunks: 1 });
    expect(voided).to.deep.equal([]);
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a client that disconnected before reading", async () => {
    const leaving = new AbortController();
    await streaming.begin(planOf("gwn"), order, leaving.signal);
    leaving.abort(new Error("left"));
    expect((await ledger()).streams[0]).to.include({ ...ended, outcome: "left", bytes: 0, chunks: 0 });
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a client that disconnected while the serving was recorded", async () => {
    const leaving = new AbortController();
    // The serving is added to a flush in the turn in which the synthesis begins; the flush starts
    // at the end of that turn.
    onBegin = () => void setImmediate(() => leaving.abort(new Error("left")));
    const stream = streaming.begin(planOf("gwn"), order, leaving.signal);
    expect(await rejection(stream)).to.have.property("message", "left");
    const { servings, streams } = await ledger();
    expect(servings[0]).to.include(served);
    expect(streams[0]).to.include({ ...ended, outcome: "left", bytes: 0, chunks: 0 });
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("records a failure during the stream", async () => {
    source = async function* () {
      yield Buffer.from("one ");
      throw new EngineFailed("It broke off.");
    };
    const { audio } = await streaming.begin(planOf("gwn"), order, never);
    expect(await rejection(collect(audio))).to.be.instanceOf(EngineFailed);
    expect((await ledger()).streams[0]).to.include({ ...ended, outcome: "failed", bytes: 4, chunks: 1 });
  });

  it("is voided when it fails before any audio was delivered", async () => {
    source = async function* () {
      if (begun.length > 0) throw new EngineFailed("It broke off.");
      yield Buffer.alloc(0);
    };
    const { audio } = await streaming.begin(planOf("gwn"), order, never);
    await rejection(collect(audio));
    const { streams, voided } = await ledger();
    expect(streams[0]).to.include({ ...ended, outcome: "failed", chunks: 0 });
    expect(voided[0]).to.include({ requestId: "r", characters: 10, reason: "unanswered", at });
  });

  it("is charged when its provider is stopped because no client reads, also without delivered audio", async () => {
    source = async function* () {
      yield Buffer.from("one ");
      throw new ReadersStalled();
    };
    const { audio } = await streaming.begin(planOf("gwn"), order, never);
    expect(await rejection(collect(audio))).to.be.instanceOf(ReadersStalled);
    expect((await ledger()).voided).to.deep.equal([]);
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
    const { servings, streams, voided } = await ledger();
    expect([servings.length, streams.length, voided.length]).to.deep.equal([1, 1, 0]);
  });

  it("does not start without quota, and stops when the ledger refuses it", async () => {
    expect(await rejection(streaming.begin(planOf("gwn", 16), order, never))).to.be.instanceOf(
      KeyIsSuspended,
    );
    expect(begun).to.deep.equal([]);
  });

  it("begins no synthesis for characters that another request in progress may need", async () => {
    const gate = Promise.withResolvers<void>();
    onBegin = () => gate.promise;
    const first = streaming.begin(planOf("gwn"), order, never);
    await until(() => begun.length === 1);
    const second = rejection(streaming.begin(planOf("gwn"), { ...order, requestId: "r-2" }, never));
    gate.resolve();
    await first;
    expect(await second).to.be.instanceOf(KeyIsSuspended);
    expect(begun).to.have.length(1);
  });

  it("aborts the synthesis when the serving cannot be recorded", async () => {
    const failing: Ledger = {
      ...opened.ledger,
      record: (_principal, _served, done) => done(new Unavailable("down", 1), undefined),
    };
    const stream = deliveryOf(failing).begin(planOf("gwn"), order, never);
    expect(await rejection(stream)).to.be.instanceOf(Unavailable);
    expect(begun[0]?.aborted).to.equal(true);
  });

  it("charges a client that never reads if a provider was asked, and voids one of a local engine", async () => {
    for (const [engine, voids] of [
      ["gwn", 0],
      ["g1", 1],
    ] as const) {
      const leaving = new AbortController();
      const context = { ...order, requestId: engine, principal: testPrincipal() };
      await streaming.begin(planOf(engine), context, leaving.signal);
      leaving.abort(new Error("left"));
      expect((await ledger()).voided, engine).to.have.length(voids);
    }
  });

  it("voids a stream that a shutdown ends before any audio was delivered", async () => {
    const ending = new AbortController();
    await streaming.begin(planOf("gwn"), order, ending.signal);
    ending.abort(new Unavailable("The service is shutting down.", 1));
    expect((await ledger()).voided).to.have.length(1);
  });

  it("reads the audio of an Idempotency-Key to its end when the client leaves", async () => {
    let chunks = 0;
    source = async function* () {
      for (; chunks < 5; chunks++) yield Buffer.from("one ");
    };
    const leaving = new AbortController();
    const idempotency = { key: "i", request: "same" };
    const { delivered } = await streaming.begin(planOf("gwn"), { ...order, idempotency }, leaving.signal);
    delivered();
    leaving.abort(new Error("left"));
    await until(() => chunks === 5);
    expect(begun[0]?.aborted).to.equal(false);
  });

  describe("of a repeat whose text cannot be spoken in time", () => {
    const idempotency = { key: "i", request: "same" };
    const tooLong = new SpeechTooLong();
    const first = { ...order, idempotency };
    const repeat = { ...first, requestId: "repeat" };
    let gate: PromiseWithResolvers<void>;
    const charges = async (count: number): Promise<number[]> => {
      for (;;) {
        const { servings } = await ledger();
        if (servings.length >= count) return servings.map(({ characters }) => characters);
      }
    };

    beforeEach(async () => {
      gate = Promise.withResolvers();
      source = async function* () {
        yield Buffer.from("one ");
        await gate.promise;
        throw tooLong;
      };
      const { audio, delivered } = await streaming.begin(planOf("g1", 7), first, never);
      delivered();
      gate.resolve();
      expect(await rejection(collect(audio))).to.equal(tooLong);
      expect(await charges(1)).to.deep.equal([7]);
      gate = Promise.withResolvers();
    });

    it("is charged, because an engine has worked again", async () => {
      const { audio, characters } = await streaming.begin(planOf("g1", 7), repeat, never);
      gate.resolve();
      expect(await rejection(collect(audio))).to.equal(tooLong);
      expect(characters).to.equal(0);
      expect(await charges(3)).to.deep.equal([7, 0, 7]);
    });

    it("is charged also if its client has left before", async () => {
      const leaving = new AbortController();
      await streaming.begin(planOf("g1", 7), repeat, leaving.signal);
      leaving.abort(new Error("left"));
      gate.resolve();
      expect(await charges(3)).to.deep.equal([7, 0, 7]);
    });
  });

  it("restricts /v2 to BYOK engines, also for silence", () => {
    expect(() => streaming.requireProvider({ ...planOf("g1"), muted: true })).to.throw(NotFound, /g1/);
    streaming.requireProvider(planOf("gwn"));
  });
});
