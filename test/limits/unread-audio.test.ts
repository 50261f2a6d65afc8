import { expect } from "chai";
import type {
  Sound,
  StreamContext,
  Streaming,
  WholeDelivery,
} from "../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../src/application/synthesis/planner.ts";
import { RateLimited } from "../../src/domain/errors.ts";
import { createUnreadAudio, limitUnreadAudio } from "../../src/limits/unread-audio.ts";
import { renditionOf } from "../audio/pipeline/renditions.ts";
import { collect } from "../support/collect.ts";
import { testPrincipal } from "../support/principal.ts";
import { rejection } from "../support/rejection.ts";

const limits = { streamsPerKey: 2, bytesPerKey: 100 };
const memory = (byteLength: number) => ({ byteLength });

describe("unread audio", () => {
  it("is limited in bytes, for each key", () => {
    const unread = createUnreadAudio(limits);
    const read = unread.hold("k", memory(60));
    unread.requireRoom("k");
    unread.hold("k", memory(40));
    expect(() => unread.requireRoom("k"))
      .to.throw(RateLimited, "100 bytes")
      .that.includes({ kind: "unread", retryAfterSeconds: 5 });
    unread.requireRoom("other");
    read();
    read();
    unread.requireRoom("k");
  });

  it("is counted once for clients that share a sound", () => {
    const unread = createUnreadAudio(limits);
    const sound = memory(60);
    const reads = [unread.hold("k", sound), unread.hold("k", sound)];
    unread.requireRoom("k");
    reads[0]?.();
    unread.hold("k", memory(60));
    expect(() => unread.requireRoom("k")).to.throw(RateLimited);
    reads[1]?.();
    unread.requireRoom("k");
  });

  it("includes what a stream holds while its sound grows", () => {
    const unread = createUnreadAudio(limits);
    const sound = { byteLength: 0 };
    const stream = unread.openStream("k");
    stream.holds(sound);
    unread.requireRoom("k");
    sound.byteLength = 100;
    expect(() => unread.requireRoom("k")).to.throw(RateLimited);
    expect(() => unread.openStream("k"))
      .to.throw(RateLimited)
      .that.includes({ kind: "unread" });
    stream.close();
    unread.openStream("k");
  });

  it("is limited in open streams, for each key", () => {
    const unread = createUnreadAudio(limits);
    const first = unread.openStream("k");
    unread.openStream("k");
    expect(() => unread.openStream("k"))
      .to.throw(RateLimited, "2 open streams")
      .that.includes({ kind: "streams", retryAfterSeconds: 5 });
    unread.openStream("other");
    first.close();
    first.close();
    unread.openStream("k");
    expect(() => unread.openStream("k")).to.throw(RateLimited);
  });
});

describe("a delivery with limited unread audio", () => {
  const rendition = renditionOf("Hello.", { engine: "gwn", websiteId: "w" });
  const plan: SynthesisPlan = {
    characters: 6,
    silent: false,
    renditions: [rendition],
    catalogRevision: "1",
    shared: false,
  };
  const context: StreamContext = { principal: testPrincipal(), requestId: "r", kind: "websocket" };
  const never = new AbortController().signal;

  const limited = ({ fails = false, bytesPerKey = 100 } = {}) => {
    const unread = createUnreadAudio({ streamsPerKey: 1, bytesPerKey });
    const source: Pick<WholeDelivery, "deliver"> & Pick<Streaming, "begin"> = {
      deliver: async (_plan, _context, { select }) => {
        const bytes = Buffer.from(new ArrayBuffer(100));
        const { hash, name } = rendition;
        const length = { samples: 1, sampleRate: 1 };
        const sound: Sound = {
          bytes,
          length,
          hash,
          name,
          format: "mp3",
          provenance: "memory",
          rendition,
          failed: [],
        };
        return { sound, selection: await select(sound, () => {}), characters: 6 };
      },
      begin: async () => {
        if (fails) throw new Error("no audio");
        return {
          rendition,
          contentType: "audio/mpeg",
          prosodyApplied: [],
          provenance: "miss",
          characters: 6,
          audio: (async function* () {
            yield Buffer.from("one");
          })(),
          memory: memory(3),
          delivered: () => undefined,
        };
      },
    };
    return limitUnreadAudio(source, unread);
  };

  it("holds a whole sound until its answer has ended", async () => {
    const delivery = limited();
    const callbacks: (() => void)[] = [];
    const onAnswered = (callback: () => void) => void callbacks.push(callback);
    const whole = { hasRange: false, select: () => ({}) };
    const obtain = () => delivery.deliver(plan, { ...context, signal: never, onAnswered }, whole);
    await obtain();
    expect(await rejection(obtain())).to.be.instanceOf(RateLimited);
    for (const callback of callbacks) callback();
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

  it("counts a stream with an answer until the answer has ended", async () => {
    const delivery = limited();
    let end = (): void => undefined;
    const onAnswered = (callback: () => void) => {
      end = callback;
    };
    const stream = await delivery.begin(plan, { ...context, onAnswered }, never);
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
});
