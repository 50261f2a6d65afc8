import { expect } from "chai";
import { presenterOf } from "../../src/limits/client-network.ts";
import { limits as bounds, RateLimited } from "../../src/limits/limits.ts";
import { createAskedShares } from "../support/asked-shares.ts";
import { testLimits } from "../support/test-limits.ts";

describe("failed attempts", () => {
  const time = { now: Date.parse("2026-03-01T12:00:15.500Z") };
  const { failures } = testLimits({}, () => time.now);
  const fail = (client: string, at: Parameters<typeof presenterOf>[1] = "website") =>
    failures.acquire(presenterOf(client, at));
  const exhaust = (client: string) => {
    for (let i = 0; i < bounds.failures.atMost; i++) fail(client);
  };

  it("above the limit per minute are rate limited until the minute ends", () => {
    exhaust("a");
    expect(() => fail("a"))
      .to.throw(RateLimited)
      .that.includes({ kind: "failures", retryAfterSeconds: 45 });
    time.now += 44_499;
    expect(() => fail("a"))
      .to.throw(RateLimited)
      .that.includes({ retryAfterSeconds: 1 });
    time.now += 1;
    exhaust("a");
  });

  it("of one client do not count for another", () => {
    exhaust("b");
    fail("c");
  });

  it("are counted separately for websites, the admin API and WebSockets", () => {
    exhaust("d");
    fail("d", "admin");
    fail("d", "websocket");
    expect(() => fail("d")).to.throw(RateLimited);
  });

  it("are counted together for one IPv6 network", () => {
    for (let i = 0; i < bounds.failures.atMost; i++) fail(`2001:db8::${i}`);
    expect(() => fail("2001:db8::ffff")).to.throw(RateLimited);
    fail("2001:db8:0:1::1");
  });
});

describe("departures", () => {
  const { atMost } = bounds.departures;
  const admittedOf = async ({ departures }: ReturnType<typeof testLimits>): Promise<number> => {
    const attempts = Array.from({ length: atMost + 5 }, () => departures.tryAcquire("k"));
    return (await Promise.all(attempts)).filter((isAdmitted) => isAdmitted).length;
  };

  it("above the limit per minute are not admitted", async () => {
    expect(await admittedOf(testLimits())).to.equal(atMost);
  });

  it("at the same time are all admitted if their process has to ask for its share of the limit", async () => {
    expect(await admittedOf(testLimits({}, undefined, createAskedShares().open))).to.equal(atMost);
  });
});

describe("what a key has open", () => {
  for (const [kind, setting, message, retryAfterSeconds] of [
    ["streams", "STREAMS_PER_KEY", "The key has 2 open streams, the maximum.", 5],
    [
      "sockets",
      "WS_SOCKETS_PER_KEY",
      "The key has 2 sockets open, the maximum: close one or try again later.",
      10,
    ],
  ] as const) {
    it(`is limited in ${kind}, by ${setting}`, () => {
      const limit = testLimits({ [setting]: 2 })[kind];
      const release = limit.acquire("k");
      limit.acquire("k");
      expect(() => limit.acquire("k"))
        .to.throw(RateLimited, message)
        .that.includes({ kind, retryAfterSeconds });
      limit.acquire("other");
      release();
      limit.acquire("k");
    });
  }
});
