import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { legacyName } from "../../../src/audio/pipeline/legacy-names.ts";
import { quiet } from "../../../src/audio/pipeline/log.ts";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import {
  type Audio,
  createPipeline,
  type Pipeline,
  type PipelineOptions,
} from "../../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { EngineFailed, Invalid, Unavailable, Unpronounceable } from "../../../src/domain/errors.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { duringSuite } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { type Observed, observed, openRealTools } from "./real-tools.ts";
import { renditionOf } from "./renditions.ts";
import { objectOf } from "./sounds.ts";

const never = new AbortController().signal;

const filesIn = async (path: string): Promise<string[]> => {
  const all = await readdir(path, { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

describe("The pipeline", () => {
  const real = duringSuite(openRealTools);

  let path: string;
  let store: FaultyStore;
  let engine: Observed;
  let time: ManualTime;
  let pipeline: Pipeline;

  const pipelineWith = (more: Partial<PipelineOptions> = {}): Pipeline =>
    createPipeline({
      engines: ({ engine: code }) => (code === "g3" ? undefined : engine),
      encoder: real.encoder,
      store,
      cache: createMemoryCache(),
      time,
      random: () => 1,
      ...more,
    });

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-pipeline-"));
    store = withFaults(await openFilesystemAudioStore({ path }));
    engine = observed(real.engine);
    time = createManualTime();
    pipeline = pipelineWith();
  });
  afterEach(async () => {
    store.mode = "refuses"; // no new put starts
    await store.close();
    await rm(path, { recursive: true });
  });

  const hello = renditionOf("Hello.");
  const broken = renditionOf("Hello.", { voice: "espeak:missing", systemVoice: "the broken one" });
  const obtain = (rendition = hello): Promise<Audio> => pipeline.obtain([rendition], never);
  const allStored = (): Promise<void> => until(() => pipeline.stats().writes.pendingObjects === 0);
  const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it("reports audio that is about to be stored: synthesized, or moved from its former name", async () => {
    const stored: string[] = [];
    pipeline = pipelineWith({ onStored: ({ hash }) => stored.push(hash) });
    const { bytes } = await obtain();
    await obtain();
    const moved = renditionOf("Hello.", { engine: "oai", websiteId: "a-website" });
    await store.put(legacyName(moved.recipe) ?? "", objectOf(bytes));
    expect((await obtain(moved)).source).to.equal("store");
    await allStored();
    await obtain(moved);
    expect(stored).to.deep.equal([hello.hash, moved.hash]);
  });

  describe("reports the source of audio", () => {
    it("as miss for the first of 60 concurrent requests and coalesced for the others, with one synthesis and the same bytes", async () => {
      const sounds = await Promise.all(Array.from({ length: 60 }, () => obtain()));
      expect(engine.requests).to.have.length(1);
      expect(sounds.map(({ source }) => source)).to.deep.equal(["miss", ...Array(59).fill("coalesced")]);
      for (const sound of sounds) expect(sound.bytes.equals(sounds[0]?.bytes as Buffer)).to.equal(true);
      expect(pipeline.stats().results).to.deep.equal({ miss: 1, coalesced: 59, memory: 0, store: 0 });
    });

    it("as memory for later requests", async () => {
      const { bytes } = await obtain();
      const again = await obtain();
      expect(again.source).to.equal("memory");
      expect(again.bytes.equals(bytes)).to.equal(true);
      expect(engine.requests).to.have.length(1);
    });

    it("as store for concurrent requests when another instance has stored it, with the same bytes and one read", async () => {
      const { bytes } = await obtain();
      await allStored();
      pipeline = pipelineWith();
      store.gets.length = 0;
      const sounds = await Promise.all([obtain(), obtain(), obtain()]);
      for (const sound of sounds) {
        expect(sound.source).to.equal("store");
        expect(sound.bytes.equals(bytes)).to.equal(true);
      }
      expect(store.gets).to.have.length(1);
      expect(engine.requests).to.have.length(1);
      expect((await obtain()).source).to.equal("memory");
    });

    it("with its hash, its name, its format and its rendition", async () => {
      const { hash, name, format, rendition, failed } = await obtain();
      expect({ hash, name, format, rendition, failed }).to.deep.equal({
        hash: hello.hash,
        name: `public/${hello.hash}.mp3`,
        format: "mp3",
        rendition: hello,
        failed: [],
      });
    });
  });

  it("synthesizes the same bytes again after all caches are lost", async () => {
    const { bytes } = await obtain();
    await allStored();
    await rm(path, { recursive: true });
    store = withFaults(await openFilesystemAudioStore({ path }));
    pipeline = pipelineWith();
    const again = await obtain();
    expect(again.source).to.equal("miss");
    expect(again.bytes.equals(bytes)).to.equal(true);
  });

  it("keeps a website's private audio apart from all others", async () => {
    const own = renditionOf("Hello.", { websiteId: "w1" });
    const others = renditionOf("Hello.", { websiteId: "w2" });
    await obtain(own);
    expect((await obtain(others)).source).to.equal("miss");
    expect((await obtain()).source).to.equal("miss");
    expect(own.name).to.match(/^private\//);
  });

  describe("looks up cached objects without synthesizing", () => {
    it("fromMemory reads memory only", async () => {
      expect(pipeline.fromMemory(hello)).to.equal(undefined);
      const { bytes } = await obtain();
      expect(pipeline.fromMemory(hello)).to.deep.include({ source: "memory", bytes, rendition: hello });
    });

    it("fromCache reads memory, then the store", async () => {
      expect(await pipeline.fromCache(hello, never)).to.equal(undefined);
      await obtain();
      expect((await pipeline.fromCache(hello, never))?.source).to.equal("memory");
      await allStored();
      pipeline = pipelineWith();
      expect((await pipeline.fromCache(hello, never))?.source).to.equal("store");
      expect(engine.requests).to.have.length(1);
    });

    it("statRendition tells the size and length of audio in memory or the store, and reads no bytes", async () => {
      expect(await pipeline.statRendition(hello, never)).to.equal(undefined);
      const { bytes, length } = await obtain();
      const known = { rendition: hello, size: bytes.length, length };
      expect(await pipeline.statRendition(hello, never)).to.deep.equal({ ...known, source: "memory" });
      await allStored();
      pipeline = pipelineWith();
      store.gets.length = 0;
      expect(await pipeline.statRendition(hello, never)).to.deep.equal({ ...known, source: "store" });
      expect(await pipeline.statRendition({ ...hello, hasMarks: true }, never)).to.equal(undefined);
      store.mode = "refuses";
      expect(await pipeline.statRendition(hello, never)).to.equal(undefined);
      expect(store.gets).to.deep.equal([]);
    });

    it("getAudio reads audio by its name from memory or the store", async () => {
      expect(await pipeline.getAudio(hello.name, never)).to.equal(undefined);
      const { bytes } = await obtain();
      expect((await pipeline.getAudio(hello.name, never))?.bytes.equals(bytes)).to.equal(true);
      await allStored();
      pipeline = pipelineWith();
      const fetched = await Promise.all([1, 2, 3].map(() => pipeline.getAudio(hello.name, never)));
      for (const each of fetched) expect(each?.bytes.equals(bytes)).to.equal(true);
    });

    it("does not keep an object in memory that was deleted while it was read", async () => {
      await obtain();
      await allStored();
      const isRead = Promise.withResolvers<void>();
      const mayEnd = Promise.withResolvers<void>();
      const get: FaultyStore["get"] = async (...asked) => {
        const object = await store.get(...asked);
        isRead.resolve();
        await mayEnd.promise;
        return object;
      };
      pipeline = pipelineWith({ store: { ...store, get } });
      const reading = pipeline.getAudio(hello.name, never);
      await isRead.promise;
      await store.remove(hello.hash);
      pipeline.forget(hello.hash);
      mayEnd.resolve();
      await reading;
      expect(await pipeline.getAudio(hello.name, never)).to.equal(undefined);
    });
  });

  describe("with a failing store", () => {
    it("synthesizes and reports a miss; the object is stored when the store has recovered", async () => {
      store.mode = "refuses";
      const { bytes, source } = await obtain();
      expect(source).to.equal("miss");
      await until(() => time.waiting() === 1);
      store.mode = "available";
      time.advance(100);
      await allStored();
      expect((await store.get(hello.name))?.bytes.equals(bytes)).to.equal(true);
    });

    it("waits for the store at most until its deadline, and not at all while the circuit is open", async () => {
      store.mode = "hangs";
      for (let i = 0; i < 3; i++) {
        const sound = obtain(renditionOf(`Hello ${i}.`));
        await until(() => store.gets.length === i + 1);
        time.advance(2000);
        expect((await sound).source).to.equal("miss");
      }
      expect(pipeline.stats().storeReads).to.equal("open");
      expect((await obtain(renditionOf("Hello again."))).source).to.equal("miss");
      expect(store.gets).to.have.length(3);
    });

    it("serves pending writes even if memory caches nothing", async () => {
      pipeline = pipelineWith({ cache: createMemoryCache({ maxBytes: 0 }) });
      store.mode = "refuses";
      const { bytes } = await obtain();
      expect((await obtain()).source).to.equal("memory");
      expect((await pipeline.getAudio(hello.name, never))?.bytes.equals(bytes)).to.equal(true);
      expect(engine.requests).to.have.length(1);
    });

    it("reports a store failure instead of claiming that an object does not exist", async () => {
      store.mode = "refuses";
      expect(await failureOf(pipeline.getAudio(hello.name, never))).to.be.instanceOf(Unavailable);
      expect(await pipeline.fromCache(hello, never)).to.equal(undefined);
    });

    it("waits for pending writes when it closes", async () => {
      store.mode = "refuses";
      const { bytes } = await obtain();
      await until(() => time.waiting() === 1);
      store.mode = "available";
      expect(await pipeline.drain(10_000)).to.equal(0);
      expect((await store.get(hello.name))?.bytes.equals(bytes)).to.equal(true);
    });
  });

  it("treats a truncated object in the store as missing, and replaces it", async () => {
    const { bytes } = await obtain();
    await allStored();
    await rm(path, { recursive: true });
    store = withFaults(await openFilesystemAudioStore({ path }));
    await store.put(hello.name, objectOf(bytes));
    const [file = ""] = await filesIn(path);
    await truncate(file, 1000);
    pipeline = pipelineWith();
    const again = await obtain();
    expect(again.source).to.equal("miss");
    expect(again.bytes.equals(bytes)).to.equal(true);
    await allStored();
    expect((await store.get(hello.name))?.bytes.equals(bytes)).to.equal(true);
  });

  describe("when callers leave", () => {
    const story = renditionOf("A long story. ".repeat(250));
    const reason = new Error("leaves");

    it("aborts the engine when the only caller leaves", async () => {
      const controller = new AbortController();
      engine.onSound = () => controller.abort(reason);
      expect(await failureOf(pipeline.obtain([story], controller.signal))).to.equal(reason);
      await until(() => real.running() === 0);
      expect(pipeline.stats()).to.deep.include({ inFlight: 0 });
      expect(pipeline.fromMemory(story)).to.equal(undefined);
    });

    it("continues for the remaining callers, also when the first caller leaves", async () => {
      const controller = new AbortController();
      engine.onSound = () => controller.abort(reason);
      const first = failureOf(pipeline.obtain([story], controller.signal));
      const second = pipeline.obtain([story], never);
      expect(await first).to.equal(reason);
      expect((await second).source).to.equal("coalesced");
      expect(engine.requests).to.have.length(1);
    });

    it("starts a new synthesis for a request that comes after the last caller left", async () => {
      const controller = new AbortController();
      engine.onAsk = () => controller.abort(reason);
      await failureOf(pipeline.obtain([hello], controller.signal));
      engine.onAsk = () => undefined;
      expect((await obtain()).source).to.equal("miss");
      expect(engine.requests).to.have.length(2);
    });

    it("rejects a call whose signal is already aborted", async () => {
      await obtain();
      expect(await failureOf(pipeline.obtain([hello], AbortSignal.abort(reason)))).to.equal(reason);
    });
  });

  describe("when an engine fails", () => {
    it("falls back to the next rendition, under that rendition's own name, and reports the one that failed", async () => {
      const { rendition, failed, hash, source } = await pipeline.obtain([broken, hello], never);
      expect({ rendition, failed, hash, source }).to.deep.equal({
        rendition: hello,
        failed: ["the broken one"],
        hash: hello.hash,
        source: "miss",
      });
      await allStored();
      expect(pipeline.fromMemory(broken)).to.equal(undefined);
      expect(await store.get(broken.name)).to.equal(undefined);
    });

    it("throws the first failure when all renditions fail", async () => {
      const none = renditionOf("Hello.", { engine: "g3" });
      const error = await failureOf(pipeline.obtain([broken, none], never));
      expect(error).to.be.instanceOf(EngineFailed);
      expect((error as Error).message).to.contain("voice");
      expect(pipeline.stats().failures).to.equal(2);
    });

    it("does not fall back when the text has nothing to pronounce", async () => {
      const error = await failureOf(
        pipeline.obtain([renditionOf("..."), renditionOf("...", { engine: "g2" })], never),
      );
      expect(error).to.be.instanceOf(Invalid);
      expect(engine.requests).to.have.length(1);
      expect(pipeline.stats().failures).to.equal(0);
    });

    it("falls back when one voice cannot pronounce the text, and counts no failure", async () => {
      const qya = renditionOf("0", { voice: "espeak:art/qya", systemVoice: "Quenya" });
      const { rendition, failed } = await pipeline.obtain([qya, hello], never);
      expect({ rendition, failed }).to.deep.equal({ rendition: hello, failed: ["Quenya"] });
      expect(pipeline.stats().failures).to.equal(0);
    });

    it("refuses the text when its voice cannot pronounce it and the other renditions fail", async () => {
      const qya = renditionOf("0", { voice: "espeak:art/qya" });
      expect(await failureOf(pipeline.obtain([qya, broken], never))).to.be.instanceOf(Unpronounceable);
    });

    it("rejects all waiting callers, and does not retry for a few seconds", async () => {
      const failures = await Promise.all([1, 2, 3].map(() => failureOf(obtain(broken))));
      for (const failure of failures) expect(failure).to.be.instanceOf(EngineFailed);
      expect(engine.requests).to.have.length(1);
      const again = await failureOf(obtain(broken));
      expect(again).to.be.instanceOf(EngineFailed).and.include({ retryAfterSeconds: 3 });
      expect(engine.requests).to.have.length(1);
      expect(pipeline.stats().failures).to.equal(1);
      time.advance(3000);
      expect(await failureOf(obtain(broken))).to.be.instanceOf(EngineFailed);
      expect(engine.requests).to.have.length(2);
    });

    it("retries a paid voice at once after a failure", async () => {
      const paid = renditionOf("Hello.", { voice: "espeak:none", engine: "gwn", websiteId: "w1" });
      for (const count of [1, 2]) {
        expect(await failureOf(obtain(paid))).to.be.instanceOf(EngineFailed);
        expect(engine.requests).to.have.length(count);
      }
    });

    it("retries at once after a caller left", async () => {
      const controller = new AbortController();
      engine.onAsk = () => controller.abort(new Error("leaves"));
      await failureOf(pipeline.obtain([hello], controller.signal));
      engine.onAsk = () => undefined;
      expect((await obtain()).source).to.equal("miss");
    });

    it("does not fall back for a caller that has left", async () => {
      const controller = new AbortController();
      engine.onAsk = () => controller.abort(new Error("leaves"));
      await failureOf(pipeline.obtain([broken, hello], controller.signal));
      await setImmediate();
      expect(engine.requests).to.have.length(1);
    });

    it("logs each failed rendition once: engine, voice and reason, never the text", async () => {
      const warnings: object[] = [];
      pipeline = pipelineWith({ log: { ...quiet, warn: (facts) => warnings.push(facts) } });
      await Promise.all([1, 2, 3].map(() => pipeline.obtain([broken, hello], never)));
      const reason = "The engine g1 does not have this voice.";
      expect(warnings).to.deep.equal([{ engine: "g1", systemVoice: "the broken one", reason }]);
    });

    it("logs how the process of the tool ended that failed, the encoder's too", async () => {
      const crash = (signal: string) => ({
        cause: new ToolFailed("exit", "It failed.", { end: { signal } }),
      });
      const failures = [
        new EngineFailed("espeak-ng failed.", crash("SIGSEGV")),
        new Unavailable("The audio could not be encoded.", 5, crash("SIGABRT")),
      ];
      const logged: object[] = [];
      for (const failure of failures) {
        pipeline = pipelineWith({
          engines: () => ({ ...engine, synthesize: () => Promise.reject(failure) }),
          log: { ...quiet, warn: (facts) => logged.push(facts) },
        });
        await rejection(pipeline.obtain([hello], never));
      }
      expect(logged).to.have.length(2);
      expect(logged[0]).to.include({ reason: "espeak-ng failed.", signal: "SIGSEGV" });
      expect(logged[1]).to.include({ reason: "The audio could not be encoded.", signal: "SIGABRT" });
    });
  });

  describe("when no engine slot is free", () => {
    const second = renditionOf("Hello.", { engine: "g2" });
    const withFirst = (synthesize: Engine["synthesize"]) =>
      pipelineWith({ engines: ({ engine: code }) => (code === "g1" ? { ...engine, synthesize } : engine) });

    it("does not fall back to the next voice, which would add load", async () => {
      const overload = new Unavailable("Too much speech is being made at once.", 1);
      pipeline = withFirst(() => Promise.reject(overload));
      expect(await failureOf(pipeline.obtain([hello, second], never))).to.equal(overload);
      expect(engine.requests).to.have.length(0);
    });

    it("bounds the time until audio has begun, and stops the synthesis", async () => {
      let received: AbortSignal | undefined;
      pipeline = withFirst((_, signal) => {
        received = signal;
        return new Promise(() => undefined);
      });
      const failed = failureOf(pipeline.obtain([hello, second], never));
      await until(() => received !== undefined);
      time.advance(59_999);
      await setImmediate();
      expect(received?.aborted).to.equal(false);
      time.advance(1);
      expect(await failed).to.be.instanceOf(Unavailable);
      expect(received?.aborted).to.equal(true);
      expect(engine.requests).to.have.length(0);
    });
  });

  it("serves every caller in its own voice when the helper process is killed", async () => {
    const texts = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => `Story ${i}. `.repeat(40));
    let killed = false;
    engine.onSound = () => {
      if (!killed) process.kill(real.helper(), "SIGKILL");
      killed = true;
    };
    const sounds = await Promise.all(
      texts.map((text) => pipeline.obtain([renditionOf(text), renditionOf(text, { engine: "g2" })], never)),
    );
    expect(sounds.map(({ rendition, failed }) => [rendition.recipe.engine, failed])).to.deep.equal(
      texts.map(() => ["g1", []]),
    );
  });

  it("reserves capacity for synthesis, however many objects are being fetched", async () => {
    pipeline = pipelineWith({ limits: { audioReads: 2 } });
    store.mode = "hangs";
    const fetches = [1, 2, 3].map((i) =>
      failureOf(pipeline.statAudio(renditionOf(`Number ${i}.`).name, never)),
    );
    await until(() => time.waiting() === 2);
    store.mode = "available";
    expect((await obtain()).source).to.equal("miss");
    time.advance(2000);
    for (const fetched of fetches.slice(0, 2)) expect(await fetched).to.be.instanceOf(Unavailable);
    expect(await fetches[2]).to.equal(undefined);
  });

  it("synthesizes an object again that a reader by name found damaged, and replaces it", async () => {
    const { bytes } = await obtain();
    await allStored();
    const [file = ""] = (await filesIn(path)).filter((each) => each.endsWith(".mp3"));
    const damaged = await readFile(file);
    damaged.writeUInt8(damaged.readUInt8(100) ^ 1, 100);
    await writeFile(file, damaged);
    pipeline = pipelineWith();
    const parts = pipeline.readAudio(hello.name, { start: 0, end: bytes.length }, { signal: never });
    expect((await parts.next()).done).to.equal(true);
    expect((await obtain()).source).to.equal("miss");
    await allStored();
    expect((await store.get(hello.name))?.bytes.equals(bytes)).to.equal(true);
  });

  it("refuses lookups and syntheses beyond its concurrency bound", async () => {
    pipeline = pipelineWith({ limits: { inFlight: 2 } });
    const requests = [1, 2, 3].map((i) => obtain(renditionOf(`Number ${i}.`)));
    const outcomes = await Promise.allSettled(requests);
    const refused = outcomes.map((each) => "reason" in each && each.reason instanceof Unavailable);
    expect(refused).to.deep.equal([false, false, true]);
    expect(pipeline.stats().inFlight).to.equal(0);
  });

  it("bounds the concurrent syntheses per API key, and leaves capacity for other keys", async () => {
    pipeline = pipelineWith({ limits: { inFlight: 4, inFlightPerKey: 2 } });
    const keys = ["greedy", "greedy", "greedy", "modest"];
    const requests = keys.map((key, index) => pipeline.obtain([renditionOf(`Number ${index}.`)], never, key));
    const outcomes = await Promise.allSettled(requests);
    const refused = outcomes.map((each) => "reason" in each && each.reason instanceof Unavailable);
    expect(refused.filter(Boolean)).to.have.length(1);
    expect(refused[3]).to.equal(false);
  });
});
