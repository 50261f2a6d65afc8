import { expect } from "chai";
import { Invalid } from "../../../src/domain/errors.ts";
import {
  checkQuota,
  evolveUsage,
  initialUsage,
  monthOf,
  otherMonths,
  QuotaExceeded,
  type QuotaRequest,
  recordServing,
  type SynthesisServed,
  type Usage,
} from "../../../src/domain/usage/usage.ts";
import { voidOf } from "../../support/voiding.ts";

const served = (over: Partial<SynthesisServed> = {}): SynthesisServed => ({
  requestId: "r1",
  hash: "a".repeat(64),
  characters: 10,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
  at: "2026-11-21T10:00:00.000Z",
  ...over,
});

const usageAfter = (...answers: SynthesisServed[]): Usage =>
  answers
    .flatMap((data) => recordServing(initialUsage(), data, null))
    .reduce((usage, event) => evolveUsage(usage, event), initialUsage());

describe("the usage of a key in a month", () => {
  it("counts the characters of every response with audio", () => {
    expect(usageAfter(served(), served({ requestId: "r2", characters: 7 })).used).to.equal(17);
  });

  it("admits a request that fills the quota exactly", () => {
    expect(recordServing(usageAfter(served({ characters: 90 })), served(), 100)).to.have.length(1);
  });

  it("refuses the first request that would exceed the quota, with the usage in the error", () => {
    const refuse = () => recordServing(usageAfter(served({ characters: 91 })), served(), 100);
    expect(refuse).to.throw(QuotaExceeded).with.property("used", 91);
  });

  it("has no limit without a quota", () => {
    expect(recordServing(usageAfter(served({ characters: 1e9 })), served(), null)).to.have.length(1);
  });

  it("records a range of an object that was counted within ten minutes with zero characters", () => {
    const [event] = recordServing(
      usageAfter(served()),
      served({ partial: true, at: "2026-11-21T10:10:00.000Z" }),
      null,
    );
    expect(event?.data.characters).to.equal(0);
  });

  it("counts a range of an object that was counted more than ten minutes ago", () => {
    const [event] = recordServing(
      usageAfter(served()),
      served({ partial: true, at: "2026-11-21T10:10:00.001Z" }),
      null,
    );
    expect(event?.data.characters).to.equal(10);
  });

  it("counts a range of another object", () => {
    const [event] = recordServing(
      usageAfter(served()),
      served({ partial: true, hash: "b".repeat(64) }),
      null,
    );
    expect(event?.data.characters).to.equal(10);
  });

  it("does not extend the ten minutes when it serves a free range", () => {
    const free = served({ partial: true, at: "2026-11-21T10:09:00.000Z" });
    const usage = recordServing(usageAfter(served()), free, null).reduce(evolveUsage, usageAfter(served()));
    const [event] = recordServing(usage, served({ partial: true, at: "2026-11-21T10:18:00.000Z" }), null);
    expect(event?.data.characters).to.equal(10);
  });

  it("admits a free range when the quota is full", () => {
    const full = usageAfter(served({ characters: 100 }));
    expect(recordServing(full, served({ partial: true, characters: 100 }), 100)).to.have.length(1);
  });

  it("counts every request for the whole object", () => {
    const [event] = recordServing(usageAfter(served()), served({ cached: "memory" }), null);
    expect(event?.data.characters).to.equal(10);
  });

  describe("checked before synthesis", () => {
    const quotaRequest = (over: Partial<QuotaRequest> = {}): QuotaRequest => ({
      hashes: ["a".repeat(64)],
      characters: 10,
      at: "2026-11-21T10:05:00.000Z",
      ...over,
    });
    const full = usageAfter(served());

    it("admits or refuses a request without recording it", () => {
      expect(checkQuota(full, quotaRequest({ characters: 90 }), 100)).to.deep.equal([]);
      expect(() => checkQuota(full, quotaRequest({ characters: 91 }), 100)).to.throw(QuotaExceeded);
    });

    it("admits a free range until its ten minutes are over", () => {
      expect(checkQuota(full, quotaRequest({ partial: true }), 10)).to.deep.equal([]);
      const late = quotaRequest({ partial: true, at: "2026-11-21T10:10:00.001Z" });
      expect(() => checkQuota(full, late, 10)).to.throw(QuotaExceeded);
    });

    it("admits a range if its object is not known yet and may be a counted one", () => {
      const either = quotaRequest({ partial: true, hashes: ["b".repeat(64), "a".repeat(64)] });
      expect(checkQuota(full, either, 10)).to.deep.equal([]);
      const neither = quotaRequest({ partial: true, hashes: ["b".repeat(64)] });
      expect(() => checkQuota(full, neither, 10)).to.throw(QuotaExceeded);
    });

    it("refuses the whole object again when the quota is full", () => {
      expect(() => checkQuota(full, quotaRequest(), 10)).to.throw(QuotaExceeded);
    });
  });

  describe("with an Idempotency-Key", () => {
    const idempotency = { key: "i", request: "same" };
    const first = served({ idempotency });
    const again = (over: Partial<SynthesisServed> = {}) => served({ requestId: "r2", idempotency, ...over });

    it("counts a repeat within 24 hours with zero characters, even when the quota is full", () => {
      const [event] = recordServing(usageAfter(first), again({ at: "2026-11-22T10:00:00.000Z" }), 10);
      expect(event?.data).to.include({ characters: 0, repeat: true });
    });

    it("counts a repeat after 24 hours", () => {
      const [event] = recordServing(usageAfter(first), again({ at: "2026-11-22T10:00:00.001Z" }), null);
      expect(event?.data).to.include({ characters: 10 }).and.not.have.property("repeat");
    });

    it("measures the 24 hours from the first request, not from the last repeat", () => {
      const [repeat] = recordServing(usageAfter(first), again({ at: "2026-11-22T09:00:00.000Z" }), null);
      const usage = [repeat].reduce(
        (before, event) => (event ? evolveUsage(before, event) : before),
        usageAfter(first),
      );
      const [event] = recordServing(usage, again({ at: "2026-11-22T10:00:00.001Z" }), null);
      expect(event?.data.characters).to.equal(10);
    });

    it("refuses the key for a different request", () => {
      const other = again({ idempotency: { key: "i", request: "another" } });
      expect(() => recordServing(usageAfter(first), other, null)).to.throw(Invalid, "Idempotency-Key");
    });

    it("counts any request with the key if the first one was voided", () => {
      const usage = voidOf(first, first.at).reduce(evolveUsage, usageAfter(first));
      expect(usage.used).to.equal(0);
      const [event] = recordServing(usage, again({ idempotency: { key: "i", request: "another" } }), null);
      expect(event?.data.characters).to.equal(10);
    });

    it("admits a repeat before synthesis, even when the quota is full", () => {
      const repeat = { hashes: ["b"], characters: 10, idempotency, at: first.at };
      expect(checkQuota(usageAfter(first), repeat, 10)).to.deep.equal([]);
    });

    it("finds the key in the previous month and, for clock differences, in the next one", () => {
      expect(otherMonths("2026-12-01T23:59:59.999Z")).to.deep.equal(["2026-11"]);
      expect(otherMonths("2026-12-02T00:00:00.001Z")).to.deep.equal([]);
      expect(otherMonths("2026-12-31T23:59:30.000Z")).to.deep.equal(["2027-01"]);
    });
  });

  it("belongs to the month of the response's time", () => {
    expect(monthOf("2026-12-01T00:00:00.000Z")).to.equal("2026-12");
  });
});
