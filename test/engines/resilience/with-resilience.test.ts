import { expect } from "chai";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { say } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import { until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { closedGate } from "../../support/wire/gate.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";
import { type ResilientProvider, requestOf, resilientProviders } from "./resilient-providers.ts";

const never = new AbortController().signal;
const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children. ";

for (const provider of resilientProviders) {
  describe(`One set of ${provider.code} credentials`, () => {
    let wire: WireServer;

    beforeEach(async () => {
      wire = await provider.serve();
    });
    afterEach(() => wire.close());

    const speak = (account: ReturnType<ResilientProvider["open"]>, changed?: Partial<SpeechRequest>) =>
      say(account.engine, requestOf(provider, changed));

    it("has a limit of concurrent requests, independent of other credentials", async () => {
      const gate = closedGate();
      wire.faults.always({ kind: "slow", gate });
      const account = provider.open(wire.url, { concurrency: 2 });
      const received = [1, 2, 3, 4].map(() => speak(account));
      await wire.until(() => wire.activeRequests() === 2);
      const others = speak(provider.open(wire.url, { concurrency: 2 }));
      await wire.seen(3);
      expect(wire.activeRequests()).to.equal(3);
      gate.open();
      await Promise.all([...received, others]);
      expect(wire.requests.length).to.equal(5);
    });

    it("has a limit of requests per minute", async () => {
      const account = provider.open(wire.url, { perMinute: 3 });
      for (let i = 0; i < 3; i++) await speak(account);
      const refused = rejection(speak(account));
      await until(() => account.waiting() === 1);
      account.time.advance(15_000);
      expect(await refused).to.be.instanceOf(Unavailable);
      expect(wire.requests.length).to.equal(3);
      account.time.advance(45_000);
      await speak(account);
    });

    it("counts retries against the limit", async () => {
      const account = provider.open(wire.url, { perMinute: 2 });
      wire.faults.next({ kind: "refusal", status: 503 });
      await speak(account);
      const refused = rejection(speak(account));
      await until(() => account.waiting() === 1);
      account.time.advance(15_000);
      expect(await refused).to.be.instanceOf(Unavailable);
      expect(wire.requests.length).to.equal(2);
    });

    it("finishes long audio however long its pieces wait, with at most one other synthesis before each piece", async () => {
      const account = provider.open(wire.url, { concurrency: 1 });
      const text = sentence.repeat(62);
      const trickle = closedGate();
      wire.faults.next({ kind: "trickle", gate: trickle });
      const long = account.engine
        .synthesize(requestOf(provider, { text, waiter: createWaiter("website") }), never)
        .then(({ audio }) => collect(audio));
      await trickle.reached();
      const begin = () => speak(account, { waiter: createWaiter("website") });
      const another = rejection(begin());
      await until(() => account.waiting() === 1);
      trickle.step();
      await until(() => account.waiting() === (provider.code === "gwn" ? 1 : 2));
      account.time.advance(15_000);
      expect(await another).to.be.instanceOf(Unavailable);
      const next = begin();
      trickle.open();
      await Promise.all([long, next]);
      const order = wire.requests.map(({ body }) => body.length > 500);
      expect(order.filter((isLong) => !isLong)).to.have.length(1);
      expect(order[0]).to.equal(true);
      expect(account.waiting()).to.equal(0);
    });

    it("retries a refused piece in the middle of long audio", async () => {
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
