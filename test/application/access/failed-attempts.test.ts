import { expect } from "chai";
import {
  createFailedAttempts,
  maxFailuresPerMinute,
} from "../../../src/application/access/failed-attempts.ts";
import { RateLimited } from "../../../src/domain/errors.ts";

describe("failed attempts", () => {
  const time = { now: Date.parse("2026-03-01T12:00:15.500Z") };
  const attempts = createFailedAttempts({ clock: () => time.now });
  const pass = (client: string) => () => attempts.throwIfThrottled(client);
  const exhaust = (client: string) => {
    for (let i = 0; i < maxFailuresPerMinute; i++) {
      expect(pass(client)).to.not.throw();
      attempts.count(client);
    }
  };

  it("throttle a client that made too many, until the minute ends", () => {
    exhaust("a");
    expect(pass("a")).to.throw(RateLimited).with.include({ kind: "failures", retryAfterSeconds: 45 });
    time.now += 44_499;
    expect(pass("a")).to.throw(RateLimited).with.include({ retryAfterSeconds: 1 });
    time.now += 1;
    expect(pass("a")).to.not.throw();
  });

  it("do not throttle another client", () => {
    exhaust("b");
    expect(pass("c")).to.not.throw();
  });

  it("are counted together for one IPv6 network", () => {
    for (let i = 0; i < maxFailuresPerMinute; i++) attempts.count(`2001:db8::${i}`);
    expect(pass("2001:db8::ffff")).to.throw(RateLimited);
    expect(pass("2001:db8:0:1::1")).to.not.throw();
  });
});
