import { expect } from "chai";
import type {
  Audio,
  CompleteDelivery,
  StreamContext,
  Streaming,
} from "../../../src/application/synthesis/delivery.ts";
import { limitDelivery } from "../../../src/application/synthesis/limit-delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import type { Receipt } from "../../../src/domain/ledger/journal/serving.ts";
import { RateLimited } from "../../../src/limits/limits.ts";
import type { OpenShares } from "../../../src/limits/shares.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { createAskedShares } from "../../support/asked-shares.ts";
import { collect } from "../../support/collect.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { testLimits } from "../../support/test-limits.ts";

interface LimitedOptions {
  readonly fails?: boolean;
  readonly bytesPerKey?: number;
  readonly openShares?: OpenShares;
}

const memory = (byteLength: number) => ({ byteLength });

describe("a limited delivery", () => {
  const rendition = renditionOf("Hello.", { engine: "gwn", websiteId: "w" });
  const plan: SynthesisPlan = {
    characters: 6,
    muted: false,
    renditions: [rendition],
    catalogRevision: "1",
    shared: false,
  };
  const context: StreamContext = { principal: testPrincipal(), requestId: "r", kind: "websocket" };
  const never = new AbortController().signal;

  /** How often each function of the delivery was called. */
  let calls: Record<"recordFromMemory" | "deliver" | "begin", number>;
  beforeEach(() => {
    calls = { recordFromMemory: 0, deliver: 0, begin: 0 };
  });

  const limited = ({ fails = false, bytesPerKey = 100, openShares }: LimitedOptions = {}) => {
    const settings = { STREAMS_PER_KEY: 1, UNREAD_AUDIO_BYTES: bytesPerKey };
    const limits = testLimits(settings, undefined, openShares);
    const source: Pick<CompleteDelivery, "deliver" | "recordFromMemory"> & Pick<Streaming, "begin"> = {
      recordFromMemory: (...[, , , , done]) => {
        calls.recordFromMemory++;
        done(undefined, {} as Receipt);
      },
      deliver: async (_plan, _context, { select }) => {
        calls.deliver++;
        const bytes = Buffer.from(new ArrayBuffer(100));
        const { hash, name } = rendition;
        const length = { samples: 1, sampleRate: 1 };
        const sound: Audio = {
          bytes,
          length,
          hash,
          name,
          format: "mp3",
          source: "memory",
          rendition,
          failed: [],
        };
        return { audio: sound, selection: await select(sound, () => {}), characters: 6 };
      },
      begin: async () => {
        calls.begin++;
        if (fails) throw new Error("no audio");
        return {
          rendition,
          contentType: "audio/mpeg",
          prosodyApplied: [],
          source: "miss",
          characters: 6,
          audio: (async function* () {
            yield Buffer.from("one");
          })(),
          memory: memory(3),
          delivered: () => undefined,
        };
      },
    };
    return limitDelivery(source, limits);
  };

  it("holds whole audio until its response has ended", async () => {
    const delivery = limited();
    const callbacks: (() => void)[] = [];
    const onSent = (callback: () => void) => void callbacks.push(callback);
    const whole = { hasRange: false, select: () => ({}) };
    const record = () =>
      delivery.recordFromMemory(plan, context.principal, "r", {} as Audio, (error) => {
        if (error) throw error;
      });
    const obtain = () => delivery.deliver(plan, { ...context, signal: never, onSent }, whole);
    await obtain();
    expect(await rejection(obtain())).to.be.instanceOf(RateLimited);
    expect(record).to.throw(RateLimited);
    for (const callback of callbacks) callback();
    expect(record).not.to.throw();
    await obtain();
  });

  it("counts a stream until it is read to its end", async () => {
    const delivery = limited();
    const stream = await delivery.begin(plan, context, never);
    expect(await rejection(delivery.begin(plan, context, never))).to.include({ kind: "streams" });
    expect(String(await collect(stream.audio))).to.equal("one");
    await delivery.begin(plan, context, never);
  });

  it("counts a stream until its signal is aborted", async () => {
    const delivery = limited();
    const client = new AbortController();
    await delivery.begin(plan, context, client.signal);
    client.abort();
    await delivery.begin(plan, context, never);
  });

  it("counts a stream with a response until the response has ended", async () => {
    const delivery = limited();
    let end = (): void => undefined;
    const onSent = (callback: () => void) => {
      end = callback;
    };
    const stream = await delivery.begin(plan, { ...context, onSent }, never);
    await collect(stream.audio);
    expect(await rejection(delivery.begin(plan, context, never))).to.include({ kind: "streams" });
    end();
    await delivery.begin(plan, context, never);
  });

  it("does not count a stream that fails to begin", async () => {
    const delivery = limited({ fails: true });
    for (const _ of [1, 2])
      expect(await rejection(delivery.begin(plan, context, never))).to.match(/no audio/);
  });

  describe("whose process must ask for its limits", () => {
    const whole = { hasRange: false, select: () => ({}) };

    it("repeats only the check of a limit, so that each request is charged once", async () => {
      const shares = createAskedShares();
      const delivery = limited({ openShares: shares.open, bytesPerKey: 250 });
      const sent: (() => void)[] = [];
      const onSent = (callback: () => void) => void sent.push(callback);
      await delivery.deliver(plan, { ...context, signal: never, onSent }, whole);
      await new Promise((resolve) =>
        delivery.recordFromMemory(plan, context.principal, "r", {} as Audio, resolve),
      );
      await delivery.begin(plan, context, never);
      expect(new Set(shares.asked)).to.deep.equal(new Set(["unread", "streams"]));
      expect(calls).to.deep.equal({ recordFromMemory: 1, deliver: 1, begin: 1 });
      expect(sent).to.have.length(1);
    });

    it("asks again when the audio is there, without another delivery", async () => {
      const shares = createAskedShares();
      const delivery = limited({ openShares: shares.open, bytesPerKey: 250 });
      const waiting = { ...context, signal: never, onSent: () => {} };
      await Promise.all([1, 2].map(() => delivery.deliver(plan, waiting, whole)));
      expect(shares.asked.length).to.be.above(2);
      expect(calls.deliver).to.equal(2);
    });

    it("does no work for a client that disconnects while it waits", async () => {
      const shares = createAskedShares();
      shares.hold();
      const delivery = limited({ openShares: shares.open });
      const client = new AbortController();
      const begun = delivery.begin(plan, context, client.signal);
      client.abort(new Error("disconnected"));
      expect(await rejection(begun)).to.match(/disconnected/);
      shares.grant();
      expect(calls.begin).to.equal(0);
      await delivery.begin(plan, context, never);
    });
  });
});
