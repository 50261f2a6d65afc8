import { expect } from "chai";
import { RateLimited } from "../../src/domain/errors.ts";
import { createFailedAttempts, maxFailuresPerMinute } from "../../src/limits/failed-attempts.ts";

describe("failed attempts", () => {
  const time = { now: Date.parse("2026-03-01T12:00:15.500Z") };
  const attempts = createFailedAttempts({ clock: () => time.now });
  const exhaust = (client: string) => {
    for (let i = 0; i < maxFailuresPerMinute; i++)
      expect(attempts.count(client, "website")).to.equal(undefined);
  };

  it("above the limit per minute are rate limited until the minute ends", () => {
    exhaust("a");
    const limited = attempts.count("a", "website");
    expect(limited).to.be.instanceOf(RateLimited).and.include({ kind: "failures", retryAfterSeconds: 45 });
    time.now += 44_499;
    expect(attempts.count("a", "website")).to.include({ retryAfterSeconds: 1 });
    time.now += 1;
    exhaust("a");
  });

  it("of one client do not count for another", () => {
    exhaust("b");
    expect(attempts.count("c", "website")).to.equal(undefined);
  });

  it("are counted separately for websites, the admin API and WebSockets", () => {
    exhaust("d");
    expect(attempts.count("d", "admin")).to.equal(undefined);
    expect(attempts.count("d", "websocket")).to.equal(undefined);
    expect(attempts.count("d", "website")).to.be.instanceOf(RateLimited);
  });

  it("are counted together for one IPv6 network", () => {
    for (let i = 0; i < maxFailuresPerMinute; i++) attempts.count(`2001:db8::${i}`, "website");
    expect(attempts.count("2001:db8::ffff", "website")).to.be.instanceOf(RateLimited);
    expect(attempts.count("2001:db8:0:1::1", "website")).to.equal(undefined);
  });
});
