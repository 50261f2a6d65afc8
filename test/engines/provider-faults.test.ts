import { expect } from "chai";
import { EngineFailed } from "../../src/domain/errors.ts";
import { engineContract, say } from "../contracts/engine.ts";
import { collect } from "../support/collect.ts";
import { serveLocally } from "../support/local-server.ts";
import { rejection } from "../support/rejection.ts";
import type { Fault } from "../support/wire/faults.ts";
import { closedGate } from "../support/wire/gate.ts";
import type { WireServer } from "../support/wire/wire-server.ts";
import { type CaredAccount, caredProviders, requestOf } from "./resilience/resilient-providers.ts";

const never = new AbortController().signal;
const words = "Something is wrong at theirs.";

/** What is over once, so that asking again helps. */
const passing: readonly (readonly [string, Fault])[] = [
  ["is out of order for a moment", { kind: "refusal", status: 503 }],
  ["stands behind a gateway that fails for a moment", { kind: "refusal", status: 502 }],
  ["wants to be asked a second later", { kind: "refusal", status: 429, retryAfter: "1" }],
];

/** What lasts, how often it is asked for, and what is told of it. */
const lasting: readonly (readonly [string, Fault, { asked: number; told?: object }])[] = [
  [
    "is out of order",
    { kind: "refusal", status: 503, message: words },
    { asked: 3, told: { message: words, status: 503 } },
  ],
  [
    "fails by itself",
    { kind: "refusal", status: 500, message: words },
    { asked: 1, told: { message: words, status: 500 } },
  ],
  [
    "wants to be left alone",
    { kind: "refusal", status: 429, message: words, retryAfter: "30" },
    { asked: 1, told: { message: words, retryAfterSeconds: 30 } },
  ],
  [
    "does not know the credentials any more",
    { kind: "refusal", status: 401, message: words },
    { asked: 1, told: { message: words, status: 401 } },
  ],
  ["closes the connection without a word", { kind: "cut before the answer" }, { asked: 1 }],
  ["breaks off", { kind: "cut" }, { asked: 1 }],
  ["says nothing", { kind: "empty" }, { asked: 1 }],
  ["shows a page", { kind: "html" }, { asked: 1 }],
  ["talks nonsense", { kind: "malformed" }, { asked: 1 }],
];

for (const provider of caredProviders) {
  engineContract(`${provider.code}, cared for`, async () => {
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
      let account: CaredAccount;

      beforeEach(async () => {
        wire = await provider.serve();
        account = provider.open(wire.url);
      });
      afterEach(() => wire.close());

      const hear = (signal = never) =>
        account.engine
          .synthesize(requestOf(provider, { format }), signal)
          .then(async ({ audio }) => Buffer.concat(await collect(audio)));

      for (const [what, fault] of passing) {
        it(`is the same when the provider ${what}`, async () => {
          const sound = await hear();
          wire.faults.next(fault);
          expect((await hear()).equals(sound)).to.equal(true);
          expect(wire.requests.length).to.equal(3);
          expect(account.told("retried")).to.equal(1);
          await wire.idle();
        });
      }

      for (const [what, fault, { asked, told = {} }] of lasting) {
        it(`is a failure, after ${asked} of asking, when the provider ${what}`, async () => {
          wire.faults.always(fault);
          const failure = await rejection(hear());
          expect(failure).to.be.instanceOf(EngineFailed).and.to.include(told);
          expect(wire.requests.length).to.equal(asked);
          await wire.idle();
        });
      }

      it("is a failure, after one of asking, when the provider never answers", async () => {
        wire.faults.always({ kind: "hang" });
        const heard = rejection(hear());
        await wire.seen(1);
        account.deadlines.advance(30_000);
        expect(await heard).to.be.instanceOf(EngineFailed);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });

      it("is a failure when the provider falls silent within its answer", async () => {
        const gate = closedGate();
        wire.faults.always({ kind: "trickle", gate });
        gate.step();
        const heard = rejection(hear());
        await wire.until(() => wire.requests[0]?.bytesSent === 4096);
        await gate.reached();
        account.deadlines.advance(30_000);
        expect(await heard).to.be.instanceOf(EngineFailed);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });

      it("is whole however slowly it comes", async () => {
        const sound = await hear();
        const [slow, trickle] = [closedGate(), closedGate()];
        wire.faults.next({ kind: "slow", gate: slow }, { kind: "trickle", gate: trickle });
        const [late, inPieces] = [hear(), hear()];
        await slow.reached();
        slow.open();
        trickle.open();
        expect((await late).equals(sound)).to.equal(true);
        expect((await inPieces).equals(sound)).to.equal(true);
      });

      it("is left at the provider's, too, by whoever leaves before it is there", async () => {
        wire.faults.always({ kind: "hang" });
        const leaving = new AbortController();
        const heard = rejection(hear(leaving.signal));
        await wire.seen(1);
        const reason = new Error("nobody wants it");
        leaving.abort(reason);
        expect(await heard).to.equal(reason);
        await wire.idle();
        expect(wire.requests.map(({ outcome }) => outcome)).to.deep.equal(["left"]);
      });
    });
  }

  describe(`The provider of ${provider.code}`, () => {
    it("is asked for three times when nothing listens where it should be", async () => {
      const gone = await serveLocally(() => undefined);
      await gone.close();
      const account = provider.open(gone.url);
      const failure = await rejection(say(account.engine, requestOf(provider)));
      expect(failure).to.be.instanceOf(EngineFailed).and.to.include({ stage: "connect" });
      expect([account.told("asked"), account.told("retried")]).to.deep.equal([3, 2]);
    });

    it("is not called after five consecutive failures until a trial call succeeds", async () => {
      const wire = await provider.serve();
      const { engine, clock } = provider.open(wire.url);
      wire.faults.always({ kind: "refusal", status: 500, message: words });
      const fails = () => rejection(say(engine, requestOf(provider)));
      for (let i = 0; i < 5; i++) await fails();
      const refused = (await fails()) as EngineFailed;
      expect(refused.message).to.include("circuit is open").and.include(words);
      expect(refused.retryAfterSeconds).to.equal(15);
      expect(wire.requests.length).to.equal(5);
      clock.advance(15_000);
      wire.faults.none();
      await say(engine, requestOf(provider));
      await say(engine, requestOf(provider));
      expect(wire.requests.length).to.equal(7);
      await wire.close();
    });

    it("lists its voices, and again when it was out of order for a moment", async () => {
      const wire = await provider.serve();
      wire.faults.next({ kind: "refusal", status: 503 });
      const voices = await provider.open(wire.url).listVoices(never);
      expect(voices.map(({ name }) => name)).to.include(provider.voice);
      await wire.close();
    });
  });
}
