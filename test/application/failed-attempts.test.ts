import { expect } from "chai";
import { createFailedAttempts, maxFailuresPerMinute } from "../../src/application/failed-attempts.ts";
import { RateLimited, Unauthorized } from "../../src/domain/errors.ts";

describe("failed attempts", () => {
  const time = { now: Date.parse("2026-03-01T12:00:15.500Z") };
  const attempts = createFailedAttempts({ clock: () => time.now });
  const fail = (client: string) => () => attempts.refuse(client, "wrong");
  const exhaust = (client: string) => {
    for (let i = 0; i < maxFailuresPerMinute; i++) expect(fail(client)).to.throw(Unauthorized, "wrong");
  };

  it("are told as what they are, and after too many as too many, until the minute is over", () => {
    exhaust("a");
    expect(fail("a")).to.throw(RateLimited).with.include({ kind: "failures", retryAfterSeconds: 45 });
    time.now += 44_499;
    expect(fail("a")).to.throw(RateLimited).with.include({ retryAfterSeconds: 1 });
    time.now += 1;
    expect(fail("a")).to.throw(Unauthorized);
  });

  it("of one client are no other's", () => {
    exhaust("b");
    expect(fail("c")).to.throw(Unauthorized);
  });

  it("from anywhere in one IPv6 network are one client's", () => {
    for (let i = 0; i < maxFailuresPerMinute; i++) expect(fail(`2001:db8::${i}`)).to.throw(Unauthorized);
    expect(fail("2001:db8::ffff")).to.throw(RateLimited);
    expect(() => attempts.requireRoom("2001:db8::abcd")).to.throw(RateLimited);
    expect(fail("2001:db8:0:1::1")).to.throw(Unauthorized);
  });

  it("leave room until there were too many", () => {
    expect(() => attempts.requireRoom("d")).to.not.throw();
    exhaust("d");
    expect(() => attempts.requireRoom("d")).to.throw(RateLimited);
    time.now += 60_000;
    expect(() => attempts.requireRoom("d")).to.not.throw();
  });
});
