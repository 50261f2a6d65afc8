import { expect } from "chai";
import { Invalid } from "../../../src/domain/errors.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import {
  createIdempotencyKeys,
  type IdempotencyKeys,
  type IdempotentRequest,
} from "../../../src/ledger/idempotency/idempotency-keys.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";

const dayMs = 24 * 60 * 60_000;
const start = Date.parse("2026-11-30T12:00:00.000Z");
const request = (requestId: string, parameters = "a"): IdempotentRequest => ({
  apiKey: "k",
  requestId,
  idempotency: { key: "digest", request: parameters },
});

describe("Idempotency-Keys", () => {
  let temporary: TemporaryStore;
  let now: number;
  /** Another instance: another command handler over the same store. */
  const instance = (): IdempotencyKeys =>
    createIdempotencyKeys({
      handler: createCommandHandler({ store: temporary.store, clock: () => now }),
      clock: () => now,
    });
  let keys: IdempotencyKeys;

  beforeEach(async () => {
    now = start;
    temporary = await openTemporaryStore();
    keys = instance();
  });
  afterEach(() => temporary.remove());

  it("charges the first request, and repeats of it within 24 hours on any instance are free", async () => {
    expect(await keys.recordRepeat(request("first"))).to.equal(false);
    expect(await keys.recordUse(request("first"))).to.equal(true);
    now = start + dayMs;
    expect(await instance().claim(request("second"), "j", () => false)).to.equal("repeat");
    expect(await instance().recordRepeat(request("second"))).to.equal(true);
  });

  it("charges the same request again after 24 hours", async () => {
    await keys.recordUse(request("first"));
    now = start + dayMs + 1;
    expect(await instance().recordRepeat(request("second"))).to.equal(false);
    expect(await instance().recordUse(request("second"))).to.equal(true);
  });

  it("refuses another request with the same key", async () => {
    await keys.recordUse(request("first"));
    for (const refused of ["recordRepeat", "recordUse"] as const) {
      expect(await rejection(instance()[refused](request("second", "b")))).to.be.instanceOf(Invalid);
    }
  });

  it("charges one of two concurrent requests", async () => {
    const uses = [keys.recordUse(request("one")), instance().recordUse(request("two"))];
    expect((await Promise.all(uses)).sort()).to.deep.equal([false, true]);
  });

  it("releases a charge to be voided: the next request is charged", async () => {
    await keys.recordUse(request("first"));
    expect(await instance().release(request("first"))).to.equal(true);
    expect(await instance().recordRepeat(request("second"))).to.equal(false);
    expect(await instance().recordUse(request("second"))).to.equal(true);
  });

  it("keeps the charge if a repeat of it was served", async () => {
    await keys.recordUse(request("first"));
    await instance().recordRepeat(request("second"));
    expect(await keys.release(request("first"))).to.equal(false);
    expect(await instance().recordRepeat(request("third"))).to.equal(true);
  });

  it("records two events for a request, however often it is repeated", async () => {
    await keys.recordUse(request("first"));
    for (let n = 0; n < 5; n++) expect(await instance().recordRepeat(request(`repeat-${n}`))).to.equal(true);
    const events = await collect(temporary.store.readStream("idempotency-k-digest"));
    expect(events.map(({ data }) => "repeat" in data)).to.deep.equal([false, true]);
  });

  it("releases a request whose use was not recorded", async () => {
    expect(await keys.release(request("first"))).to.equal(true);
    await keys.recordUse(request("second"));
    expect(await keys.release(request("first"))).to.equal(true);
    expect(await keys.recordRepeat(request("third"))).to.equal(true);
  });

  describe("of a process that is gone", () => {
    it("recovers the use that it did not record: a repeat is free", async () => {
      expect(await keys.recover(request("first"))).to.equal(false);
      expect(await instance().recover(request("first"))).to.equal(false);
      expect(await instance().recordRepeat(request("second"))).to.equal(true);
    });

    it("voids its charge once if a repeat was charged meanwhile", async () => {
      await keys.recordUse(request("second"));
      const recovered = [instance().recover(request("first")), instance().recover(request("first"))];
      expect((await Promise.all(recovered)).sort()).to.deep.equal([false, true]);
      expect(await keys.recordRepeat(request("third"))).to.equal(true);
    });

    it("voids nothing that it voids itself, if it is not gone after all", async () => {
      await keys.recordUse(request("charged"));
      await keys.recordUse(request("slower"));
      expect(await keys.release(request("refused"))).to.equal(true);
      for (const one of ["charged", "slower", "refused"]) {
        expect(await instance().recover(request(one)), one).to.equal(false);
      }
    });

    it("does not void what the recovery voids or keeps", async () => {
      await instance().recordUse(request("repeat"));
      expect(await instance().recover(request("first"))).to.equal(true);
      expect(await keys.recordUse(request("first"))).to.equal(true);
      expect(await keys.release(request("first"))).to.equal(false);
      const other = { ...request("kept"), idempotency: { key: "other", request: "a" } };
      expect(await instance().recover(other)).to.equal(false);
      expect(await keys.recordUse(other)).to.equal(true);
    });
  });
});
