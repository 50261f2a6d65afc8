import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { say } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import { until } from "../../support/manual-clock.ts";
import { rejection } from "../../support/rejection.ts";
import { closedGate } from "../../support/wire/gate.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";
import { type CaredProvider, caredProviders, requestOf } from "./resilient-providers.ts";

const never = new AbortController().signal;
const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children. ";

for (const provider of caredProviders) {
  describe(`What ${provider.code} is asked on one set of credentials`, () => {
    let wire: WireServer;

    beforeEach(async () => {
      wire = await provider.serve();
    });
    afterEach(() => wire.close());

    const hear = (account: ReturnType<CaredProvider["open"]>) => say(account.engine, requestOf(provider));

    it("is no more at once than it may be, and nothing of another's", async () => {
      const gate = closedGate();
      wire.faults.always({ kind: "slow", gate });
      const account = provider.open(wire.url, { concurrency: 2 });
      const heard = [1, 2, 3, 4].map(() => hear(account));
      await wire.until(() => wire.activeRequests() === 2);
      const others = hear(provider.open(wire.url, { concurrency: 2 }));
      await wire.seen(3);
      expect(wire.activeRequests()).to.equal(3);
      gate.open();
      await Promise.all([...heard, others]);
      expect(wire.requests.length).to.equal(5);
    });

    it("is no more in a minute than it may be", async () => {
      const account = provider.open(wire.url, { perMinute: 3 });
      for (let i = 0; i < 3; i++) await hear(account);
      const refused = rejection(hear(account));
      await until(() => account.waiting() === 1);
      account.clock.advance(15_000);
      expect(await refused).to.be.instanceOf(Unavailable);
      expect(wire.requests.length).to.equal(3);
      account.clock.advance(45_000);
      await hear(account);
    });

    it("counts each time that it is asked again", async () => {
      const account = provider.open(wire.url, { perMinute: 2 });
      wire.faults.next({ kind: "refusal", status: 503 });
      await hear(account);
      const refused = rejection(hear(account));
      await until(() => account.waiting() === 1);
      account.clock.advance(15_000);
      expect(await refused).to.be.instanceOf(Unavailable);
      expect(wire.requests.length).to.equal(2);
    });

    it("goes on with a long sound before it begins another, however long that takes", async () => {
      const account = provider.open(wire.url, { concurrency: 1 });
      const text = sentence.repeat(62);
      const trickle = closedGate();
      wire.faults.next({ kind: "trickle", gate: trickle });
      const long = account.engine
        .synthesize(requestOf(provider, { text }), never)
        .then(({ audio }) => collect(audio));
      await trickle.reached();
      const another = rejection(hear(account));
      await until(() => account.waiting() === 1);
      trickle.step();
      await until(() => account.waiting() === (provider.code === "gwn" ? 1 : 2));
      account.clock.advance(15_000);
      expect(await another).to.be.instanceOf(Unavailable);
      const next = hear(account);
      trickle.open();
      await Promise.all([long, next]);
      const [first = "", second = "", ...others] = wire.requests.map(({ body }) => body.toString());
      expect([first, second].map(({ length }) => length > 500)).to.deep.equal([true, true]);
      expect(others.at(-1)).to.include(requestOf(provider).text);
      expect(account.waiting()).to.equal(0);
    });

    it("is asked again in the midst of a long sound when it was refused", async () => {
      const account = provider.open(wire.url);
      const request = requestOf(provider, { text: sentence.repeat(62) });
      const whole = await say(account.engine, request);
      const calls = wire.requests.length;
      expect(calls).to.be.above(1);
      const { audio } = await account.engine.synthesize(request, never);
      wire.faults.next({ kind: "refusal", status: 429, retryAfter: "1" });
      expect(Buffer.concat(await collect(audio)).equals(whole)).to.equal(true);
      expect(wire.requests.length).to.equal(2 * calls + 1);
    });
  });
}
