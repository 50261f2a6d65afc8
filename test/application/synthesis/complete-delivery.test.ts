import { expect } from "chai";
import {
  type Audio,
  type CompleteDelivery,
  createDelivery,
  type DeliveryContext,
  type Selection,
} from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import { untilAborted } from "../../../src/async/deadline.ts";
import type { OnEngineJob, Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import {
  EngineFailed,
  Invalid,
  NothingToSpeak,
  SpeechTooLong,
  Unavailable,
  Unpronounceable,
} from "../../../src/domain/errors.ts";
import type { Idempotency } from "../../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { RateLimited } from "../../../src/limits/limits.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { type DisturbedStore, disturbedStore } from "../../ledger/disturbed-store.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger } from "../../support/test-ledger.ts";
import { testLimits } from "../../support/test-limits.ts";

const at = "2026-11-21T10:00:00.000Z";
const principal = testPrincipal();
const planOf = (engine: "gwn" | "g1"): SynthesisPlan => ({
  characters: 10,
  muted: false,
  renditions: [renditionOf("Hello.", { engine, ...(engine === "gwn" && { websiteId: "w" }) })],
  catalogRevision: "1",
  shared: false,
});
const local = planOf("g1");
const byok = planOf("gwn");
const idempotency: Idempotency = { key: "i", request: "same" };
const never = new AbortController().signal;
const leaving = new Error("left");
const refuse = (error: Error) => () => {
  throw error;
};

describe("whole delivery", () => {
  const temporary = duringTest(openTemporaryStore);
  let store: DisturbedStore;
  let opened: OpenLedger;
  let delivery: CompleteDelivery;
  let minutes: ReturnType<typeof createManualTime>;
  let source: Audio["source"];
  /** What the engine does, once it has begun. */
  let work: () => Promise<void>;
  /** Syntheses that engines have begun, with the signals that end them. */
  let begun: AbortSignal[];
  let kept: Audio | undefined;

  const soundOf = ({ renditions: [rendition] }: SynthesisPlan): Audio =>
    ({ rendition, failed: [], source, bytes: Buffer.alloc(100) }) as unknown as Audio;

  beforeEach(async () => {
    store = disturbedStore(temporary.store);
    const issued = { apiKey: "k", websiteId: "w", plan: principal.plan, at };
    await createCommandHandler(temporary).execute(
      keyDecider,
      keyStream("k"),
      (key) => issueKey(key, issued),
      {},
    );
    opened = await openTestLedger(store, () => Date.parse(at));
    source = "miss";
    work = async () => {};
    begun = [];
    kept = undefined;
    minutes = createManualTime();
    const obtain = async (
      renditions: readonly Audio["rendition"][],
      signal: AbortSignal,
      _apiKey?: string,
      onEngineJob?: OnEngineJob,
    ) => {
      const [rendition] = renditions as [Audio["rendition"]];
      if (source === "miss") {
        onEngineJob?.({ rendition, hasBegun: true }, "miss");
        begun.push(signal);
        await untilAborted(work(), signal);
      }
      return soundOf({ ...local, renditions: [rendition] });
    };
    const pipeline: Pick<
      Pipeline,
      "fromMemory" | "fromCache" | "statRendition" | "obtain" | "asKept" | "stream"
    > = {
      fromMemory: () => undefined,
      fromCache: async (rendition) =>
        source === "miss" ? undefined : soundOf({ ...local, renditions: [rendition] }),
      statRendition: async (rendition) =>
        source === "miss" ? undefined : { rendition, source, size: 1, length: { samples: 1, sampleRate: 1 } },
      obtain,
      asKept: async (sound) => kept ?? sound,
      stream: () => Promise.reject(new Error("not used")),
    };
    delivery = createDelivery({
      pipeline,
      ledger: opened.ledger,
      departures: testLimits({}, minutes.now).departures,
    });
  });
  afterEach(async () => {
    await opened.close(0);
  });

  const deliver = <S extends Selection>(
    requestId: string,
    context: Partial<DeliveryContext> & { plan?: SynthesisPlan; select?: () => S; hasRange?: boolean } = {},
  ): Promise<number> => {
    const { plan = local, select = () => ({}), hasRange = false, ...rest } = context;
    const request = { hasRange, select };
    return delivery
      .deliver(plan, { principal, requestId, signal: never, ...rest }, request)
      .then(({ characters }) => characters);
  };
  /** Leaves while an append of the request waits in the event store. */
  const deliverAndLeave = async (
    requestId: string,
    context: Parameters<typeof deliver>[1] = {},
  ): Promise<unknown> => {
    const caller = new AbortController();
    const select = () => {
      store.hold();
      return {};
    };
    const delivered = rejection(deliver(requestId, { ...context, signal: caller.signal, select }));
    await until(() => store.held > 0);
    caller.abort(leaving);
    store.release();
    return await delivered;
  };
  /** Leaves while the engine works. */
  const leaveEarly = async (
    requestId: string,
    context: Parameters<typeof deliver>[1] = {},
  ): Promise<void> => {
    const caller = new AbortController();
    const count = begun.length;
    const gate = Promise.withResolvers<void>();
    work = () => gate.promise;
    const delivered = rejection(deliver(requestId, { ...context, signal: caller.signal }));
    await until(() => begun.length > count);
    caller.abort(leaving);
    expect(await delivered).to.equal(leaving);
    work = async () => {};
  };
  const ledger = async () => {
    await opened.drained();
    return await readLedger(temporary.store);
  };
  /** The characters that are charged for all requests. */
  const charged = async (): Promise<number> => {
    const { servings, voided } = await ledger();
    const sum = (entries: readonly { characters: number }[]) =>
      entries.reduce((total, { characters }) => total + characters, 0);
    return sum(servings) - sum(voided);
  };

  it("charges a caller that stays connected", async () => {
    expect(await deliver("r")).to.equal(10);
    const { servings, voided } = await ledger();
    expect([servings.length, voided.length]).to.deep.equal([1, 0]);
    expect(servings[0]).not.to.have.property("undelivered");
  });

  it("takes only the stored bytes for a range, and any bytes for whole audio", async () => {
    kept = { ...soundOf(local), bytes: Buffer.from("kept") };
    const selected: Audio[] = [];
    const select = (sound: Audio) => {
      selected.push(sound);
      return {};
    };
    for (const hasRange of [false, true]) {
      const context = { principal, requestId: `r-${hasRange}`, signal: never };
      await delivery.deliver(local, context, { hasRange, select });
    }
    expect(selected.map((sound) => sound === kept)).to.deep.equal([false, true]);
  });

  describe("of a caller that leaves", () => {
    it("voids a local serving that is being recorded", async () => {
      expect(await deliverAndLeave("r")).to.equal(leaving);
      const { servings, voided } = await ledger();
      expect(servings).to.have.length(1);
      expect(voided).to.have.length(1);
      expect(voided[0]).to.include({ requestId: "r", characters: 10, reason: "unanswered", at });
    });

    it("charges a serving that is being recorded if a provider was asked", async () => {
      expect(await deliverAndLeave("r", { plan: byok })).to.equal(leaving);
      expect(await charged()).to.equal(10);
    });

    it("charges an engine's work for the selection of audio that existed, after ten departures", async () => {
      source = "memory";
      for (let n = 0; n < 11; n++) {
        const caller = new AbortController();
        const select = (_: Audio, onBegin: () => void): never => {
          onBegin();
          caller.abort(leaving);
          throw leaving;
        };
        const context = { principal, requestId: `r-${n}`, signal: caller.signal };
        const whole = { hasRange: false, select };
        expect(await rejection(delivery.deliver(local, context, whole))).to.equal(leaving);
      }
      const { servings } = await ledger();
      expect(servings).to.have.length(1);
      expect(servings[0]).to.include({ characters: 10, undelivered: true });
    });

    it("charges nothing for audio that existed, within ten departures", async () => {
      source = "store";
      for (let n = 0; n < 11; n++) await deliverAndLeave(`r-${n}`, { plan: byok });
      expect(await charged()).to.equal(10);
    });

    it("records nothing before an engine has begun", async () => {
      const gone = rejection(deliver("r", { signal: AbortSignal.abort(leaving), plan: byok }));
      expect(await gone).to.equal(leaving);
      expect((await ledger()).servings).to.deep.equal([]);
      expect(begun).to.deep.equal([]);
    });

    it("charges it once a provider was asked, and ends the synthesis", async () => {
      await leaveEarly("r", { plan: byok });
      const { servings, voided } = await ledger();
      expect(servings).to.have.length(1);
      expect(servings[0]).to.include({ requestId: "r", characters: 10, cached: "miss", undelivered: true });
      expect(voided).to.deep.equal([]);
      expect(begun[0]?.aborted).to.equal(true);
    });

    it("charges it from the eleventh time in a minute on while a local engine works", async () => {
      for (let n = 0; n < 12; n++) await leaveEarly(`r-${n}`);
      expect((await ledger()).servings.map(({ requestId }) => requestId)).to.deep.equal(["r-10", "r-11"]);
      minutes.advance(60_000);
      await leaveEarly("r-12");
      expect(await charged()).to.equal(20);
    });

    it("charges nothing if the service ends the request", async () => {
      const caller = new AbortController();
      work = async () => caller.abort(new Unavailable("The service is shutting down.", 1));
      await rejection(deliver("r", { signal: caller.signal, plan: byok }));
      expect((await ledger()).servings).to.deep.equal([]);
    });

    it("completes the audio of a charged Idempotency-Key, so that its repeat needs no engine", async () => {
      await leaveEarly("first", { plan: byok, idempotency });
      expect(begun[0]?.aborted).to.equal(false);
      expect(await deliver("second", { plan: byok, idempotency })).to.equal(0);
      expect(await charged()).to.equal(10);
    });
  });

  describe("of a request that fails after an engine has worked", () => {
    const causes = {
      "what it selects does not exist": new RateLimited("no such range", "unread", 1),
      "its text takes too long to speak": new SpeechTooLong(),
    };
    for (const [cause, error] of Object.entries(causes)) {
      it(`charges it if ${cause}`, async () => {
        expect(await rejection(deliver("r", { select: refuse(error) }))).to.equal(error);
        const { servings } = await ledger();
        expect(servings[0]).to.include({ requestId: "r", characters: 10, undelivered: true });
      });
    }

    it("charges a repeat for a text that cannot be spoken in time, which yields no audio for repeats", async () => {
      const tooLong = new SpeechTooLong();
      work = () => Promise.reject(tooLong);
      for (const requestId of ["r-1", "r-2"])
        expect(await rejection(deliver(requestId, { idempotency }))).to.equal(tooLong);
      expect(await charged()).to.equal(20);
    });

    it("charges it also if the caller of the repeat leaves before", async () => {
      await deliver("first", { idempotency });
      const gate = Promise.withResolvers<void>();
      const caller = new AbortController();
      work = () => gate.promise;
      const delivered = rejection(deliver("repeat", { idempotency, signal: caller.signal }));
      await until(() => begun.length === 2);
      caller.abort(leaving);
      expect(await delivered).to.equal(leaving);
      gate.reject(new SpeechTooLong());
      while ((await charged()) !== 20);
    });

    it("charges it from the eleventh time in a minute on if nothing can be heard of its text", async () => {
      const errors = [new NothingToSpeak(), new Unpronounceable()];
      for (let n = 0; n < 12; n++) {
        const error = errors[n % 2] as Error;
        work = () => Promise.reject(error);
        expect(await rejection(deliver(`r-${n}`))).to.equal(error);
      }
      expect(await charged()).to.equal(20);
      minutes.advance(60_000);
      expect(await rejection(deliver("next minute"))).to.be.instanceOf(Unpronounceable);
      expect(await charged()).to.equal(20);
    });

    it("charges nothing if the service or the provider fails", async () => {
      for (const error of [new EngineFailed("502"), new Unavailable("503", 1), new TypeError("500")]) {
        work = () => Promise.reject(error);
        expect(await rejection(deliver("r", { plan: byok }))).to.equal(error);
      }
      expect((await ledger()).servings).to.deep.equal([]);
    });

    it("charges nothing for a range outside audio that existed", async () => {
      source = "memory";
      const error = new RateLimited("no such range", "unread", 1);
      expect(await rejection(deliver("r", { select: refuse(error), hasRange: true }))).to.equal(error);
      expect((await ledger()).servings).to.deep.equal([]);
    });
  });

  describe("with a quota", () => {
    const limited = testPrincipal({ monthlyCharacters: 15 });

    it("refuses a range before an engine works if it exceeds the quota", async () => {
      const refused = rejection(
        deliver("r", { principal: testPrincipal({ monthlyCharacters: 5 }), hasRange: true }),
      );
      expect(await refused).to.be.instanceOf(Unavailable); // the key itself has no quota
      expect(begun).to.deep.equal([]);
    });

    it("refuses a range of known audio before it is selected if it exceeds the quota", async () => {
      source = "memory";
      let isSelected = false;
      const select = () => {
        isSelected = true;
        return { partBytes: 50 };
      };
      const small = testPrincipal({ monthlyCharacters: 5 });
      await rejection(deliver("r", { principal: small, hasRange: true, select }));
      expect(isSelected).to.equal(false);
    });

    it("needs no characters for a range of audio that was charged", async () => {
      await deliver("whole", { principal: limited });
      source = "memory";
      const part = { hasRange: true, select: () => ({ partBytes: 50 }) };
      expect(await deliver("part", { principal: limited, ...part })).to.equal(0);
    });

    it("lets no engine work for more characters than are left, whatever the concurrency", async () => {
      const gate = Promise.withResolvers<void>();
      work = () => gate.promise;
      const all = ["r-1", "r-2", "r-3"].map((requestId) => deliver(requestId, { principal: limited }));
      await until(() => begun.length > 0);
      gate.resolve();
      const outcomes = await Promise.allSettled(all);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      expect(begun).to.have.length(1);
      expect(await charged()).to.equal(10);
    });

    it("gives the characters of a failed request to the next one", async () => {
      work = () => Promise.reject(new EngineFailed("502"));
      await rejection(deliver("r-1", { principal: limited }));
      work = async () => {};
      expect(await deliver("r-2", { principal: limited })).to.equal(10);
    });
  });

  describe("of private audio in parts", () => {
    const part = (partBytes: number) => ({ plan: byok, hasRange: true, select: () => ({ partBytes }) });

    it("charges again for more bytes than the audio has", async () => {
      expect(await deliver("first half", part(50))).to.equal(10);
      source = "memory";
      expect(await deliver("second half", part(50))).to.equal(0);
      expect(await deliver("first half again", part(50))).to.equal(10);
    });

    it("charges a whole range after a whole response", async () => {
      await deliver("whole", { plan: byok });
      source = "memory";
      expect(await deliver("bytes=0-", part(100))).to.equal(10);
    });

    it("does not count the first two bytes, which players request to learn the size", async () => {
      expect(await deliver("bytes=0-1", part(2))).to.equal(10);
      source = "memory";
      expect(await deliver("bytes=0-", part(100))).to.equal(0);
      expect(await deliver("bytes=0- again", part(100))).to.equal(10);
    });

    it("does not count the parts of a repeat, which are free anyway", async () => {
      expect(await deliver("first half", { ...part(50), idempotency })).to.equal(10);
      source = "memory";
      expect(await deliver("first half again", { ...part(50), idempotency })).to.equal(0);
      expect(await deliver("second half", part(50))).to.equal(0);
      expect(await deliver("second half again", part(50))).to.equal(10);
    });

    it("pays for the parts that follow a refused range", async () => {
      const error = new RateLimited("no such range", "unread", 1);
      await rejection(deliver("refused", { plan: byok, hasRange: true, select: refuse(error) }));
      source = "memory";
      expect(await deliver("all", part(100))).to.equal(0);
      expect(await charged()).to.equal(10);
    });

    it("charges concurrent parts once their sum exceeds the audio", async () => {
      await deliver("bytes=0-1", part(2));
      source = "memory";
      const charges = await Promise.all(["a", "b", "c"].map((requestId) => deliver(requestId, part(60))));
      expect(charges.toSorted()).to.deep.equal([0, 10, 10]);
    });

    it("charges nothing for parts of free audio within ten minutes", async () => {
      await deliver("whole");
      source = "memory";
      for (const requestId of ["a", "b"])
        expect(await deliver(requestId, { ...part(100), plan: local })).to.equal(0);
    });
  });

  describe("with an Idempotency-Key", () => {
    it("voids the first request of a local voice, so that its repeat is charged", async () => {
      await deliverAndLeave("first", { idempotency });
      await opened.drained();
      expect(await deliver("second", { idempotency })).to.equal(10);
      expect(await charged()).to.equal(10);
    });

    it("keeps the charge of the first request when the caller of a repeat leaves", async () => {
      await deliver("first", { idempotency });
      await deliverAndLeave("second", { idempotency });
      const { servings, voided } = await ledger();
      expect(servings[1]).to.include({ requestId: "second", repeat: true, characters: 0 });
      expect(voided.map(({ requestId, characters }) => [requestId, characters])).to.deep.equal([
        ["second", 0],
      ]);
      expect(await deliver("third", { idempotency })).to.equal(0);
      expect(await charged()).to.equal(10);
    });

    it("refuses another request at once while the first one is spoken, and lets a repeat wait", async () => {
      const gate = Promise.withResolvers<void>();
      work = () => gate.promise;
      const first = deliver("first", { idempotency });
      await until(() => begun.length === 1);
      const other = deliver("other", { idempotency: { ...idempotency, request: "other" } });
      expect(await rejection(other)).to.be.instanceOf(Invalid);
      const repeat = deliver("repeat", { idempotency });
      gate.resolve();
      expect(await Promise.all([first, repeat])).to.deep.equal([10, 0]);
      expect((await ledger()).voided).to.deep.equal([]);
    });

    it("charges the repeat if the first request fails", async () => {
      const gate = Promise.withResolvers<void>();
      work = () => gate.promise;
      const first = rejection(deliver("first", { idempotency }));
      await until(() => begun.length === 1);
      const repeat = deliver("repeat", { idempotency });
      work = async () => {};
      gate.reject(new EngineFailed("502"));
      expect(await first).to.be.instanceOf(EngineFailed);
      expect(await repeat).to.equal(10);
    });
  });

  it("finds audio without a synthesis only for a key that was charged for it", async () => {
    source = "memory";
    expect(await delivery.findCharged(local, "k", never)).to.equal(undefined);
    await deliver("r");
    expect(await delivery.findCharged(local, "k", never)).to.include({ source: "memory" });
    expect(await delivery.findCharged(local, "another", never)).to.equal(undefined);
  });
});
