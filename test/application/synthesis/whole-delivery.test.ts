import { expect } from "chai";
import type { OpenLedger } from "../../../src/application/ledger/open-ledger.ts";
import {
  createDelivery,
  type Sound,
  type WholeDelivery,
} from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import type { Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import type { Idempotency } from "../../../src/domain/ledger/serving.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { until } from "../../support/manual-clock.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger } from "../../support/test-ledger.ts";
import { type DisturbedStore, disturbedStore } from "../ledger/disturbed-store.ts";

const at = "2026-11-21T10:00:00.000Z";
const principal = testPrincipal();
const rendition = renditionOf("Hello.", { websiteId: "w" });
const plan: SynthesisPlan = {
  characters: 10,
  silent: false,
  renditions: [rendition],
  catalogRevision: "1",
  shared: false,
};
const sound = { rendition, failed: [], provenance: "memory" } as unknown as Sound;
const idempotency: Idempotency = { key: "i", request: "same" };

describe("whole delivery", () => {
  let temporary: TemporaryStore;
  let store: DisturbedStore;
  let opened: OpenLedger;
  let delivery: WholeDelivery;

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    store = disturbedStore(temporary.store);
    opened = await openTestLedger(store, () => Date.parse(at));
    delivery = createDelivery({ pipeline: {} as Pipeline, ledger: opened.ledger });
  });
  afterEach(async () => {
    await opened.close(0);
    await temporary.remove();
  });

  const record = (requestId: string, signal: AbortSignal, key?: Idempotency): Promise<number> =>
    delivery.record(plan, { principal, requestId, signal, idempotency: key }, sound, false);
  const never = new AbortController().signal;
  /** Aborts while an append of the request waits in the event store. */
  const recordAndLeave = async (requestId: string, key?: Idempotency): Promise<unknown> => {
    const caller = new AbortController();
    store.hold();
    const recorded = rejection(record(requestId, caller.signal, key));
    await until(() => store.held > 0);
    caller.abort(new Error("left"));
    store.release();
    return await recorded;
  };
  const ledger = async () => {
    await opened.drained();
    return await readLedger(temporary.store);
  };
  /** The characters that are charged for all requests. */
  const charged = async (): Promise<number> => {
    const { servings, voided } = await ledger();
    const sum = (entries: readonly { characters: number }[]) =>
      entries.reduce((total, { characters }) => total + characters, 0);
    return sum(servings) - sum(voided);
  };

  it("charges a caller that stays connected", async () => {
    expect(await record("r", never)).to.equal(10);
    const { servings, voided } = await ledger();
    expect([servings.length, voided.length]).to.deep.equal([1, 0]);
  });

  it("voids the serving of a caller that disconnects while it is recorded", async () => {
    expect(await recordAndLeave("r")).to.have.property("message", "left");
    const { servings, voided } = await ledger();
    expect(servings).to.have.length(1);
    expect(voided).to.have.length(1);
    expect(voided[0]).to.include({ requestId: "r", characters: 10, reason: "unanswered", at });
  });

  it("records nothing for a caller that has already disconnected", async () => {
    expect(await rejection(record("r", AbortSignal.abort(new Error("left"))))).to.have.property(
      "message",
      "left",
    );
    expect((await ledger()).servings).to.deep.equal([]);
  });

  it("voids the first request with an Idempotency-Key, so that its repeat is charged", async () => {
    await recordAndLeave("first", idempotency);
    await opened.drained();
    expect(await record("second", never, idempotency)).to.equal(10);
    expect(await charged()).to.equal(10);
  });

  it("keeps the charge of the first request when the caller of a repeat disconnects", async () => {
    await record("first", never, idempotency);
    const caller = new AbortController();
    const repeated = rejection(record("second", caller.signal, idempotency));
    caller.abort(new Error("left"));
    await repeated;
    const { servings, voided } = await ledger();
    expect(servings[1]).to.include({ requestId: "second", repeat: true, characters: 0 });
    expect(voided.map(({ requestId, characters }) => [requestId, characters])).to.deep.equal([["second", 0]]);
    expect(await record("third", never, idempotency)).to.equal(0);
    expect(await charged()).to.equal(10);
  });
});
