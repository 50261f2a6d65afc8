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

const having = (...answers: SynthesisServed[]): Usage =>
  answers
    .flatMap((data) => recordServing(initialUsage(), data, null))
    .reduce((usage, event) => evolveUsage(usage, event), initialUsage());

describe("usage of a key in a month", () => {
  it("counts the characters of every answer with audio", () => {
    expect(having(served(), served({ requestId: "r2", characters: 7 })).used).to.equal(17);
  });

  it("admits what fills the quota exactly", () => {
    expect(recordServing(having(served({ characters: 90 })), served(), 100)).to.have.length(1);
  });

  it("refuses the first request that would pass the quota, and tells how much is used", () => {
    const refuse = () => recordServing(having(served({ characters: 91 })), served(), 100);
    expect(refuse).to.throw(QuotaExceeded).with.property("used", 91);
  });

  it("knows no limit without a quota", () => {
    expect(recordServing(having(served({ characters: 1e9 })), served(), null)).to.have.length(1);
  });

  it("records a part of an object that was counted within ten minutes with no characters", () => {
    const [event] = recordServing(
      having(served()),
      served({ partial: true, at: "2026-11-21T10:10:00.000Z" }),
      null,
    );
    expect(event?.data.characters).to.equal(0);
  });

  it("counts a part of an object that was counted longer ago", () => {
    const [event] = recordServing(
      having(served()),
      served({ partial: true, at: "2026-11-21T10:10:00.001Z" }),
      null,
    );
    expect(event?.data.characters).to.equal(10);
  });

  it("counts a part of another object", () => {
    const [event] = recordServing(having(served()), served({ partial: true, hash: "b".repeat(64) }), null);
    expect(event?.data.characters).to.equal(10);
  });

  it("does not let a free part excuse another one later on", () => {
    const free = served({ partial: true, at: "2026-11-21T10:09:00.000Z" });
    const usage = recordServing(having(served()), free, null).reduce(evolveUsage, having(served()));
    const [event] = recordServing(usage, served({ partial: true, at: "2026-11-21T10:18:00.000Z" }), null);
    expect(event?.data.characters).to.equal(10);
  });

  it("admits a free part when the quota is full", () => {
    const full = having(served({ characters: 100 }));
    expect(recordServing(full, served({ partial: true, characters: 100 }), 100)).to.have.length(1);
  });

  it("counts the whole object again, however often it is asked for", () => {
    const [event] = recordServing(having(served()), served({ cached: "memory" }), null);
    expect(event?.data.characters).to.equal(10);
  });

  describe("before anything is made", () => {
    const asking = (over: Partial<QuotaRequest> = {}): QuotaRequest => ({
      hashes: ["a".repeat(64)],
      characters: 10,
      at: "2026-11-21T10:05:00.000Z",
      ...over,
    });
    const full = having(served());

    it("has room or not, and nothing is recorded", () => {
      expect(checkQuota(full, asking({ characters: 90 }), 100)).to.deep.equal([]);
      expect(() => checkQuota(full, asking({ characters: 91 }), 100)).to.throw(QuotaExceeded);
    });

    it("has room for a part that will be free, until it is not", () => {
      expect(checkQuota(full, asking({ partial: true }), 10)).to.deep.equal([]);
      const late = asking({ partial: true, at: "2026-11-21T10:10:00.001Z" });
      expect(() => checkQuota(full, late, 10)).to.throw(QuotaExceeded);
    });

    it("has room for a part of what may turn out to be an object that was counted", () => {
      const either = asking({ partial: true, hashes: ["b".repeat(64), "a".repeat(64)] });
      expect(checkQuota(full, either, 10)).to.deep.equal([]);
      const neither = asking({ partial: true, hashes: ["b".repeat(64)] });
      expect(() => checkQuota(full, neither, 10)).to.throw(QuotaExceeded);
    });

    it("has no room for the whole object again", () => {
      expect(() => checkQuota(full, asking(), 10)).to.throw(QuotaExceeded);
    });
  });

  describe("with an Idempotency-Key", () => {
    const idempotency = { key: "i", request: "same" };
    const first = served({ idempotency });
    const again = (over: Partial<SynthesisServed> = {}) => served({ requestId: "r2", idempotency, ...over });

    it("counts a repeat within 24 hours as nothing, though the quota is full", () => {
      const [event] = recordServing(having(first), again({ at: "2026-11-22T10:00:00.000Z" }), 10);
      expect(event?.data).to.include({ characters: 0, repeat: true });
    });

    it("counts the same key again after 24 hours", () => {
      const [event] = recordServing(having(first), again({ at: "2026-11-22T10:00:00.001Z" }), null);
      expect(event?.data).to.include({ characters: 10 }).and.not.have.property("repeat");
    });

    it("does not count from the last repeat", () => {
      const [repeat] = recordServing(having(first), again({ at: "2026-11-22T09:00:00.000Z" }), null);
      const usage = [repeat].reduce(
        (before, event) => (event ? evolveUsage(before, event) : before),
        having(first),
      );
      const [event] = recordServing(usage, again({ at: "2026-11-22T10:00:00.001Z" }), null);
      expect(event?.data.characters).to.equal(10);
    });

    it("refuses the key with another request", () => {
      const other = again({ idempotency: { key: "i", request: "another" } });
      expect(() => recordServing(having(first), other, null)).to.throw(Invalid, "Idempotency-Key");
    });

    it("counts a request whose first serving was voided, whatever it asks for", () => {
      const usage = voidOf(first, first.at).reduce(evolveUsage, having(first));
      expect(usage.used).to.equal(0);
      const [event] = recordServing(usage, again({ idempotency: { key: "i", request: "another" } }), null);
      expect(event?.data.characters).to.equal(10);
    });

    it("admits a repeat before anything is made, though the quota is full", () => {
      const prospect = { hashes: ["b"], characters: 10, idempotency, at: first.at };
      expect(checkQuota(having(first), prospect, 10)).to.deep.equal([]);
    });

    it("may be known in the month before, and to a faster clock in the next one", () => {
      expect(otherMonths("2026-12-01T23:59:59.999Z")).to.deep.equal(["2026-11"]);
      expect(otherMonths("2026-12-02T00:00:00.001Z")).to.deep.equal([]);
      expect(otherMonths("2026-12-31T23:59:30.000Z")).to.deep.equal(["2027-01"]);
    });
  });

  it("belongs to the month of the answer's own time", () => {
    expect(monthOf("2026-12-01T00:00:00.000Z")).to.equal("2026-12");
  });
});
