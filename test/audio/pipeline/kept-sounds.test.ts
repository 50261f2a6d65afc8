import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { renditionOf } from "./renditions.ts";

const never = new AbortController().signal;
const hello = renditionOf("Hello.", { format: "wav", websiteId: "w" });
/** A rendition by a voice whose audio can be made again. */
const exact = { ...hello, recipe: { ...hello.recipe, encoding: "ffmpeg 1; wav 1" } };

const wavOf = (sample: number): Buffer =>
  Buffer.concat([wavHeader(24_000, 2000), Buffer.alloc(2000, sample)]);

/** Speaks every text with its own bytes, as a server may. */
const serverOf = (sample: number): Engine => ({
  code: "g1",
  version: () => "1",
  prosody: () => [],
  takesSsml: () => false,
  synthesize: async () => ({
    encoding: { kind: "encoded", format: "wav" },
    audio: (async function* () {
      yield wavOf(sample);
    })(),
  }),
});

const localOf = (sample: number): Engine => ({
  ...serverOf(sample),
  synthesize: async (...asked) => ({
    ...(await serverOf(sample).synthesize(...asked)),
    encoded: () => ({ sampleRate: 24_000, samples: 1000 }),
  }),
});

interface Options {
  readonly sound?: typeof hello;
  readonly engineOf?: (sample: number) => Engine;
  /** The size of the memory cache. */
  readonly maxBytes?: number;
}

interface Instance {
  readonly pipeline: Pipeline;
  readonly store: FaultyStore;
  readonly time: ManualTime;
}

describe("Audio that two instances synthesize with different bytes", () => {
  let path: string;
  let first: Instance;
  let second: Instance;
  /** Ends the puts of the second instance. */
  let mayPut: PromiseWithResolvers<void>;

  const open = async (
    sample: number,
    { engineOf = serverOf, ...memory }: Options = {},
  ): Promise<Instance> => {
    const store = withFaults(await openFilesystemAudioStore({ path }));
    const time = createManualTime();
    const pipeline = createPipeline({
      engines: () => engineOf(sample),
      encoder: { reserve: async () => undefined } as never,
      store,
      cache: createMemoryCache(memory),
      time,
    });
    return { pipeline, store, time };
  };
  const allWritten = ({ pipeline }: Instance): Promise<void> =>
    until(() => pipeline.stats().writes.pendingObjects === 0);
  const hasKept = (sound: { readonly bytes: Buffer } | undefined): boolean =>
    sound !== undefined && wavOf(1).equals(sound.bytes);

  const synthesizeTwice = async ({ sound = hello, ...options }: Options = {}): Promise<void> => {
    [first, second] = [await open(1), await open(2, options)];
    const { put } = second.store;
    second.store.put = async (...object) => {
      await mayPut.promise;
      return put(...object);
    };
    // Both look into the empty store before either writes.
    const both = [first, second].map(({ pipeline }) => pipeline.obtain([sound], never));
    const [one, other] = await Promise.all(both);
    expect([hasKept(one), hasKept(other)]).to.deep.equal([true, false]);
    await allWritten(first);
  };
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-kept-"));
    mayPut = Promise.withResolvers();
  });
  afterEach(async () => {
    mayPut.resolve();
    await Promise.all([first, second].map(({ pipeline }) => pipeline.drain(1)));
    await rm(path, { recursive: true });
  });

  it("is served by both with the bytes that were stored first", async () => {
    await synthesizeTwice();
    mayPut.resolve();
    await allWritten(second);
    for (const { pipeline } of [first, second]) {
      const sound = await pipeline.obtain([hello], never);
      expect([sound.source, hasKept(sound)]).to.deep.equal(["memory", true]);
      expect(hasKept(await pipeline.getAudio(hello.name, never))).to.equal(true);
    }
  });

  it("is not read by its name before the store has one of them", async () => {
    await synthesizeTwice();
    const object = second.pipeline.getAudio(hello.name, never);
    mayPut.resolve();
    expect(hasKept(await object)).to.equal(true);
  });

  it("waits as kept until the store has one of them", async () => {
    await synthesizeTwice();
    const own = await second.pipeline.obtain([hello], never);
    const kept = second.pipeline.asKept(own, never);
    mayPut.resolve();
    expect(await kept).to.include({ hash: own.hash, source: "memory" });
    expect([hasKept(own), hasKept(await kept)]).to.deep.equal([false, true]);
  });

  it("keeps its own bytes when the store does not respond in time", async () => {
    await synthesizeTwice();
    const own = await second.pipeline.obtain([hello], never);
    const kept = second.pipeline.asKept(own, never);
    await until(() => second.time.waiting() > 1);
    second.time.advance(1000);
    expect((await kept).bytes.equals(own.bytes)).to.equal(true);
  });

  it("is read from the store when the memory cache cannot hold it", async () => {
    await synthesizeTwice({ maxBytes: 0 });
    const own = await second.pipeline.obtain([hello], never);
    const kept = second.pipeline.asKept(own, never);
    mayPut.resolve();
    expect([hasKept(own), hasKept(await kept)]).to.deep.equal([false, true]);
    const stored = await second.pipeline.obtain([hello], never);
    const reads = second.store.gets.length;
    expect(await second.pipeline.asKept(stored, never)).to.equal(stored);
    expect(second.store.gets).to.have.length(reads);
  });

  it("keeps its own bytes when neither memory nor the store has them", async () => {
    await synthesizeTwice({ maxBytes: 0 });
    const own = await second.pipeline.obtain([hello], never);
    mayPut.resolve();
    await allWritten(second);
    second.store.mode = "refuses";
    expect((await second.pipeline.asKept(own, never)).bytes.equals(own.bytes)).to.equal(true);
  });

  it("waits for the store if a local engine is not exact", async () => {
    await synthesizeTwice({ engineOf: localOf });
    const own = await second.pipeline.obtain([hello], never);
    const kept = second.pipeline.asKept(own, never);
    mayPut.resolve();
    expect(hasKept(await kept)).to.equal(true);
  });

  it("does not wait for the store if a local engine is exact", async () => {
    await synthesizeTwice({ engineOf: localOf, sound: exact });
    const own = await second.pipeline.obtain([exact], never);
    const { pipeline } = second;
    for (const sound of [await pipeline.asKept(own, never), await pipeline.getAudio(exact.name, never)]) {
      expect(sound?.bytes.equals(own.bytes)).to.equal(true);
    }
    expect(pipeline.stats().writes.pendingObjects).to.equal(1);
  });

  it("stops waiting when the caller leaves", async () => {
    await synthesizeTwice();
    const own = await second.pipeline.obtain([hello], never);
    const caller = new AbortController();
    const kept = second.pipeline.asKept(own, caller.signal);
    const reason = new Error("left");
    caller.abort(reason);
    expect(await rejection(kept)).to.equal(reason);
  });
});
