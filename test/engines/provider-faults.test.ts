import { expect } from "chai";
import { EngineFailed } from "../../src/domain/errors.ts";
import { engineContract, say } from "../contracts/engine.ts";
import { collect } from "../support/collect.ts";
import { serveLocally } from "../support/local-server.ts";
import { rejection } from "../support/rejection.ts";
import type { Fault } from "../support/wire/faults.ts";
import { closedGate } from "../support/wire/gate.ts";
import type { WireServer } from "../support/wire/wire-server.ts";
import { type ResilientAccount, requestOf, resilientProviders } from "./resilience/resilient-providers.ts";

const never = new AbortController().signal;
const words = "Something is wrong at theirs.";

/** Faults that last for one request, so that a retry succeeds. */
const transient: readonly (readonly [string, Fault])[] = [
  ["responds once with HTTP 503", { kind: "refusal", status: 503 }],
  ["responds once with HTTP 502", { kind: "refusal", status: 502 }],
  ["asks for a retry after one second", { kind: "refusal", status: 429, retryAfter: "1" }],
];

/** Lasting faults, the number of requests, and the reported error. */
const lasting: readonly (readonly [string, Fault, { requests: number; error?: object }])[] = [
  [
    "always responds with HTTP 503",
    { kind: "refusal", status: 503, message: words },
    { requests: 3, error: { message: words, status: 503 } },
  ],
  [
    "always responds with HTTP 500",
    { kind: "refusal", status: 500, message: words },
    { requests: 1, error: { message: words, status: 500 } },
  ],
  [
    "asks for a retry after 30 seconds",
    { kind: "refusal", status: 429, message: words, retryAfter: "30" },
    { requests: 1, error: { message: words, retryAfterSeconds: 30 } },
  ],
  [
    "rejects the credentials",
    { kind: "refusal", status: 401, message: words },
    { requests: 1, error: { message: words, status: 401 } },
  ],
  ["closes the connection before its response", { kind: "cut before the answer" }, { requests: 1 }],
  ["closes the connection within its response", { kind: "cut" }, { requests: 1 }],
  ["returns an empty body", { kind: "empty" }, { requests: 1 }],
  ["returns an HTML page", { kind: "html" }, { requests: 1 }],
  ["returns malformed data", { kind: "malformed" }, { requests: 1 }],
];

for (const provider of resilientProviders) {
  engineContract(`${provider.code}, with resilience`, async () => {
    const wire = await provider.serve();
    return {
      engine: provider.open(wire.url).engine,
      request: requestOf(provider),
      longText: "The quick brown fox jumps over the lazy dog, and then it goes home. ".repeat(30),
      unspeakable: " … \n — ",
      idle: () => wire.idle(),
      end: () => wire.close(),
    };
  });

  for (const format of provider.formats) {
    describe(`${format} from ${provider.code}`, () => {
      let wire: WireServer;
      let account: ResilientAccount;

      beforeEach(async () => {
        wire = await provider.serve();
        account = provider.open(wire.url);
      });
      afterEach(() => wire.close());

      const speak = (signal = never) =>
        account.engine
          .synthesize(requestOf(provider, { format }), signal)
          .then(async ({ audio }) => Buffer.concat(await collect(audio)));

      for (const [what, fault] of transient) {
        it(`is the same after a retry when the provider ${what}`, async () => {
          const sound = await speak();
          wire.faults.next(fault);
          expect((await speak()).equals(sound)).to.equal(true);
          expect(wire.requests.length).to.equal(3);
          expect(account.count("retried")).to.equal(1);
          await wire.idle();
        });
      }

      for (const [what, fault, { requests, error = {} }] of lasting) {
        it(`fails after ${requests} request(s) when the provider ${what}`, async () => {
          wire.faults.always(fault);
          const failure = await rejection(speak());
          expect(failure).to.be.instanceOf(EngineFailed).and.to.include(error);
          expect(wire.requests.length).to.equal(requests);
          await wire.idle();
        });
      }

      it("fails after one request when the provider never responds", async () => {
        wire.faults.always({ kind: "hang" });
        const received = rejection(speak());
        await wire.seen(1);
        account.deadlines.advance(30_000);
        expect(await received).to.be.instanceOf(EngineFailed);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });

      it("fails when the provider stops sending within its response", async () => {
        const gate = closedGate();
        wire.faults.always({ kind: "trickle", gate });
        gate.step();
        const received = rejection(speak());
        await wire.until(() => wire.requests[0]?.bytesSent === 4096);
        await gate.reached();
        account.deadlines.advance(30_000);
        expect(await received).to.be.instanceOf(EngineFailed);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });

      it("is complete however slowly it arrives", async () => {
        const sound = await speak();
        const [slow, trickle] = [closedGate(), closedGate()];
        wire.faults.next({ kind: "slow", gate: slow }, { kind: "trickle", gate: trickle });
        const [late, inPieces] = [speak(), speak()];
        await slow.reached();
        slow.open();
        trickle.open();
        expect((await late).equals(sound)).to.equal(true);
        expect((await inPieces).equals(sound)).to.equal(true);
      });

      it("is aborted at the provider when the caller leaves early", async () => {
        wire.faults.always({ kind: "hang" });
        const leaving = new AbortController();
        const received = rejection(speak(leaving.signal));
        await wire.seen(1);
        const reason = new Error("the caller left");
        leaving.abort(reason);
        expect(await received).to.equal(reason);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });
    });
  }

  describe(`The provider ${provider.code}`, () => {
    it("is tried three times when its connection is refused", async () => {
      const gone = await serveLocally(() => undefined);
      await gone.close();
      const account = provider.open(gone.url);
      const failure = await rejection(say(account.engine, requestOf(provider)));
      expect(failure).to.be.instanceOf(EngineFailed).and.to.include({ stage: "connect" });
      expect([account.count("requested"), account.count("retried")]).to.deep.equal([3, 2]);
    });

    it("is not called after five consecutive failures until a trial call succeeds", async () => {
      const wire = await provider.serve();
      const { engine, time } = provider.open(wire.url);
      wire.faults.always({ kind: "refusal", status: 500, message: words });
      const fails = () => rejection(say(engine, requestOf(provider)));
      for (let i = 0; i < 5; i++) await fails();
      const refused = (await fails()) as EngineFailed;
      expect(refused.message).to.include("circuit is open").and.include("HTTP 500").and.not.include(words);
      expect(refused.retryAfterSeconds).to.equal(15);
      expect(wire.requests.length).to.equal(5);
      time.advance(15_000);
      wire.faults.none();
      await say(engine, requestOf(provider));
      await say(engine, requestOf(provider));
      expect(wire.requests.length).to.equal(7);
      await wire.close();
    });

    it("lists its voices, after a retry when it failed once", async () => {
      const wire = await provider.serve();
      wire.faults.next({ kind: "refusal", status: 503 });
      const voices = await provider.open(wire.url).listVoices(never);
      expect(voices.map(({ name }) => name)).to.include(provider.voice);
      await wire.close();
    });
  });
}
