import { expect } from "chai";
import { createPromisedAudio } from "../../../src/application/articles/promised-audio.ts";
import type { StreamedAudio } from "../../../src/audio/pipeline/pipeline.ts";
import type { AudioInfo } from "../../../src/audio/store/audio-store.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/limits/limits.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const name = `public/${"ab".repeat(32)}.mp3`;
const hash = "ab".repeat(32);
const never = new AbortController().signal;
const info: AudioInfo = {
  size: 1,
  length: { samples: 1, sampleRate: 8_000 },
  usedAt: 0,
  hasChecksum: () => true,
};

describe("promised audio", () => {
  let time: ManualTime;
  let stored: Set<string>;
  let stats: number;
  /** Awaited before a response of the store. */
  let onStat: () => Promise<void>;
  let spokenHere: Map<string, PromiseWithResolvers<void>>;
  let begun: PromiseWithResolvers<void>;
  let streamed: StreamedAudio | undefined;
  let promised: ReturnType<typeof createPromisedAudio>;

  beforeEach(() => {
    time = createManualTime();
    stored = new Set();
    stats = 0;
    onStat = async () => {};
    spokenHere = new Map();
    begun = Promise.withResolvers();
    streamed = undefined;
    promised = createPromisedAudio({
      audioReads: {
        statAudio: async (one) => {
          stats++;
          const found = stored.has(one) ? info : undefined;
          await onStat();
          return found;
        },
      },
      speaker: {
        ended: (one) => spokenHere.get(one)?.promise,
        begun: (one) => (spokenHere.has(one) ? begun.promise : undefined),
        stream: async () => streamed,
      },
      time,
    });
  });

  const waitAs = (client?: string, signal = never): Promise<void> =>
    promised.untilReady({ name, client, signal });
  /** Lets time pass, and the store respond in between. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) {
      time.advance(50);
      for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    }
  };

  it("is there at once if it is stored, and nothing waits", async () => {
    stored.add(name);
    await waitAs("c");
    expect([stats, time.waiting()]).to.deep.equal([1, 0]);
  });

  it("is found within a quarter of a second after another process has stored it", async () => {
    const waiting = waitAs("c");
    await pass(100);
    stored.add(name);
    await pass(250);
    await waiting;
    expect(time.waiting()).to.equal(0);
  });

  it("is found as soon as this process has spoken it", async () => {
    const spoken = Promise.withResolvers<void>();
    spokenHere.set(hash, spoken);
    const waiting = waitAs("c");
    await until(() => time.waiting() > 0);
    stored.add(name);
    spokenHere.delete(hash);
    spoken.resolve();
    await waiting;
    expect(time.now()).to.equal(0);
  });

  it("is found if this process stores it while the store says that it lacks it", async () => {
    spokenHere.set(hash, Promise.withResolvers<void>());
    const waiting = waitAs("c");
    await until(() => time.waiting() > 0);
    onStat = async () => {
      stored.add(name);
      spokenHere.delete(hash);
    };
    await pass(250);
    await waiting;
  });

  it("is refused with 503 after exactly 30 seconds", async () => {
    const waiting = rejection(waitAs("c"));
    await until(() => time.waiting() > 0);
    await pass(29_950);
    let isRefused = false;
    void waiting.then(() => {
      isRefused = true;
    });
    await pass(0);
    expect(isRefused).to.equal(false);
    await pass(50);
    expect(await waiting)
      .to.be.instanceOf(Unavailable)
      .and.to.have.property("retryAfterSeconds");
    expect(time.waiting()).to.equal(0);
  });

  it("is refused at once if this process could not speak it", async () => {
    const failed = Promise.withResolvers<void>();
    spokenHere.set(hash, failed);
    const waiting = rejection(waitAs("c"));
    await until(() => time.waiting() > 0);
    spokenHere.delete(hash);
    failed.resolve();
    expect(await waiting).to.be.instanceOf(Unavailable);
    expect(time.now()).to.equal(0);
  });

  it("is streamed as soon as this process begins to speak it", async () => {
    spokenHere.set(hash, Promise.withResolvers());
    const waiting = promised.begin({ name, client: "c", signal: never });
    await until(() => time.waiting() > 0);
    streamed = { memory: { byteLength: 5 } } as StreamedAudio;
    begun.resolve();
    expect(await waiting).to.equal(streamed);
    await until(() => time.waiting() === 0);
  });

  it("is awaited whole if it cannot be streamed, or another process speaks it", async () => {
    const spoken = Promise.withResolvers<void>();
    spokenHere.set(hash, spoken);
    begun.resolve();
    const waiting = promised.begin({ name, client: "c", signal: never });
    await until(() => time.waiting() > 0);
    stored.add(name);
    spokenHere.delete(hash);
    spoken.resolve();
    expect(await waiting).to.equal(undefined);
    expect(await promised.begin({ name, client: "c", signal: never })).to.equal(undefined);
  });

  it("is looked up once for all requests that wait", async () => {
    const waiting = Array.from({ length: 50 }, () => waitAs("c"));
    await pass(50);
    const before = stats;
    await pass(100);
    expect(stats).to.equal(before + 1);
    stored.add(name);
    await pass(300);
    await Promise.all(waiting);
  });

  it("is waited for by a limited number of requests of a client, but by more of a CDN", async () => {
    const { atMost } = limits.waiting;
    const leaving = new AbortController();
    const ofClient = Array.from({ length: atMost }, () => rejection(waitAs("c", leaving.signal)));
    const ofCdn = Array.from({ length: atMost + 1 }, () => rejection(waitAs(undefined, leaving.signal)));
    await pass(50);
    expect(await rejection(waitAs("c"))).to.be.instanceOf(Unavailable);
    const another = rejection(waitAs("another", leaving.signal));
    leaving.abort(new Error("left"));
    for (const left of await Promise.all([...ofClient, ...ofCdn, another]))
      expect(left).to.have.property("message", "left");
    stored.add(name);
    await waitAs("c");
  });

  it("is waited for here, while the most requests wait for audio that this process does not speak", async () => {
    const leaving = new AbortController();
    const request = { client: undefined, signal: leaving.signal };
    const removed = `public/${"cd".repeat(32)}.mp3`;
    const waiting = Array.from({ length: 1_000 }, () =>
      rejection(promised.untilReady({ ...request, name: removed })),
    );
    await pass(50);
    expect(await rejection(promised.untilReady({ ...request, name: removed }))).to.be.instanceOf(Unavailable);
    const spoken = Promise.withResolvers<void>();
    spokenHere.set(hash, spoken);
    const here = waitAs();
    await pass(50);
    stored.add(name);
    spoken.resolve();
    await here;
    leaving.abort(new Error("left"));
    await Promise.all(waiting);
  });
});
