import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { createRenderer } from "../../../src/audio/pipeline/renderer.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { EngineFailed, Unavailable, Unpronounceable } from "../../../src/domain/errors.ts";
import type { Encoding, Engine } from "../../../src/engines/engine.ts";
import { collect } from "../../support/collect.ts";
import { createManualClock, type ManualClock, until } from "../../support/manual-clock.ts";
import { rejection } from "../../support/rejection.ts";
import { closedGate, type Gate } from "../../support/wire/gate.ts";
import { type FickleStore, fickle } from "./fickle-store.ts";
import { openRealParts, type RealParts } from "./real-parts.ts";
import { takeOf } from "./renditions.ts";

const never = new AbortController().signal;
const mp3: Encoding = { kind: "encoded", format: "mp3" };

describe("a sound that is heard while it is made", () => {
  let real: RealParts;
  let sound: Buffer;
  before(async () => {
    real = await openRealParts();
    const { render } = createRenderer({
      engines: () => real.engine,
      encoder: real.encoder,
      maxObjectBytes: 1_000_000,
    });
    const spoken = takeOf("A sound that is heard while it is made.");
    sound = Buffer.concat(await collect(render(spoken, { progressive: false }, never)));
  });
  after(() => real.close());

  let path: string;
  let store: FickleStore;
  let clock: ManualClock;
  let gate: Gate;
  let asked: { voice: string; progressive: boolean | undefined; signal: AbortSignal }[];
  let pipeline: Pipeline;

  /** Gives a real mp3 in four pieces, each when the gate lets it through; the voice `broken` breaks off after two. */
  const engine: Engine = {
    code: "g1",
    version: () => "1",
    prosody: () => [],
    takesSsml: () => false,
    synthesize: async ({ voice, progressive }, signal) => {
      asked.push({ voice, progressive, signal });
      if (voice === "refusing") throw new EngineFailed("It will not speak.");
      if (voice === "mute") throw new Unpronounceable();
      const audio = async function* () {
        for (let piece = 0; piece < 4; piece++) {
          await gate.pass(signal);
          if (voice === "broken" && piece === 2) throw new EngineFailed("It broke off.");
          yield sound.subarray((piece * sound.length) >> 2, ((piece + 1) * sound.length) >> 2);
        }
      };
      return { encoding: mp3, audio: audio() };
    },
  };

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-stream-"));
    store = fickle(await openFilesystemAudioStore({ path }));
    clock = createManualClock();
    gate = closedGate();
    asked = [];
    pipeline = pipelineWith();
  });
  afterEach(async () => {
    await store.close();
    await rm(path, { recursive: true });
  });
  const pipelineWith = (): Pipeline =>
    createPipeline({
      engines: () => engine,
      encoder: real.encoder,
      store,
      cache: createMemoryCache(),
      clock,
      random: () => 1,
    });

  const take = takeOf("Hello.", { websiteId: "w1", voice: "whole" });
  const stored = (): Promise<void> => until(() => pipeline.stats().writes.pendingObjects === 0);
  const bytesOf = async (audio: AsyncIterable<Buffer>): Promise<Buffer> =>
    Buffer.concat(await collect(audio));

  it("begins with the first bytes, and goes on as they come", async () => {
    const beginning = pipeline.stream([take], never);
    await gate.reached();
    gate.step();
    const { audio, provenance, failed } = await beginning;
    expect({ provenance, failed }).to.deep.equal({ provenance: "miss", failed: [] });
    const reading = audio[Symbol.asyncIterator]();
    const first: Buffer = (await reading.next()).value;
    expect(first.equals(sound.subarray(0, first.length))).to.equal(true);
    expect(asked.map(({ progressive }) => progressive)).to.deep.equal([true]);
    gate.open();
    const rest: Buffer[] = [];
    for (let next = await reading.next(); !next.done; next = await reading.next()) rest.push(next.value);
    expect(Buffer.concat([first, ...rest]).equals(sound)).to.equal(true);
  });

  it("is kept when it ended well, and served from memory and store afterwards", async () => {
    gate.open();
    await collect((await pipeline.stream([take], never)).audio);
    const again = await pipeline.stream([take], never);
    expect(again.provenance).to.equal("memory");
    expect((await bytesOf(again.audio)).equals(sound)).to.equal(true);
    expect((await pipeline.obtain([take], never)).provenance).to.equal("memory");
    await stored();
    pipeline = pipelineWith();
    const fromStore = await pipeline.stream([take], never);
    expect(fromStore.provenance).to.equal("store");
    expect((await bytesOf(fromStore.audio)).equals(sound)).to.equal(true);
    expect(asked).to.have.length(1);
  });

  it("is shared by all who want it meanwhile, whole or as it comes", async () => {
    const first = pipeline.stream([take], never);
    await gate.reached();
    gate.step(2);
    const early = await first;
    const late = await pipeline.stream([take], never);
    const whole = pipeline.obtain([take], never);
    gate.open();
    expect(late.provenance).to.equal("coalesced");
    for (const audio of [early.audio, late.audio]) {
      expect((await bytesOf(audio)).equals(sound)).to.equal(true);
    }
    expect((await whole).provenance).to.equal("coalesced");
    expect((await whole).bytes.equals(sound)).to.equal(true);
    expect(asked).to.have.length(1);
  });

  it("is not kept when it broke off, whoever heard it, and is made anew for the next", async () => {
    const broken = takeOf("Hello.", { websiteId: "w1", voice: "broken" });
    gate.open();
    const { audio } = await pipeline.stream([broken], never);
    expect(await rejection(collect(audio))).to.be.instanceOf(EngineFailed);
    expect(pipeline.fromMemory(broken)).to.equal(undefined);
    expect(pipeline.stats().writes.pendingObjects).to.equal(0);
    await rejection(collect((await pipeline.stream([broken], never)).audio));
    expect(asked).to.have.length(2);
  });

  it("falls back to the next take before the first byte, never midway", async () => {
    const refusing = takeOf("Hello.", { websiteId: "w1", voice: "refusing", systemVoice: "the first" });
    gate.open();
    const stream = await pipeline.stream([refusing, take], never);
    expect(stream.failed).to.deep.equal(["the first"]);
    expect(stream.rendition).to.equal(take);
    expect((await bytesOf(stream.audio)).equals(sound)).to.equal(true);
    const broken = takeOf("Hello.", { websiteId: "w1", voice: "broken" });
    const midway = await pipeline.stream([broken, take], never);
    expect(await rejection(collect(midway.audio))).to.be.instanceOf(EngineFailed);
  });

  it("falls back from a voice that cannot pronounce the text, and refuses the text if none can", async () => {
    const refusing = takeOf("Hello.", { websiteId: "w1", voice: "refusing" });
    const mute = takeOf("Hello.", { voice: "mute" });
    gate.open();
    expect((await pipeline.stream([mute, take], never)).rendition).to.equal(take);
    expect(await rejection(pipeline.stream([mute, refusing], never))).to.be.instanceOf(Unpronounceable);
    expect(await rejection(pipeline.stream([refusing, mute], never))).to.be.instanceOf(EngineFailed);
  });

  it("ends the engine's work when the last listener leaves, and keeps nothing", async () => {
    const leaving = new AbortController();
    const beginning = pipeline.stream([take], leaving.signal);
    await gate.reached();
    gate.step();
    const { audio } = await beginning;
    const reading = rejection(collect(audio));
    leaving.abort(new Error("left"));
    await reading;
    expect(asked[0]?.signal.aborted).to.equal(true);
    expect(pipeline.stats().underWay).to.equal(0);
    expect(pipeline.fromMemory(take)).to.equal(undefined);
  });

  it("must have begun within the bound, and may then take as long as it takes", async () => {
    const tooLate = rejection(pipeline.stream([take], never));
    await gate.reached();
    clock.advance(60_000);
    expect(await tooLate).to.be.instanceOf(Unavailable);
    await until(() => asked[0]?.signal.aborted === true);

    const beginning = pipeline.stream([take], never);
    await gate.reached();
    gate.step();
    const { audio } = await beginning;
    clock.advance(3_600_000);
    gate.open();
    expect((await bytesOf(audio)).equals(sound)).to.equal(true);
  });
});
