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
import { duringSuite } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { until as eventually } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { closedGate, type Gate } from "../../support/wire/gate.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { openRealTools } from "./real-tools.ts";
import { renditionOf } from "./renditions.ts";

const never = new AbortController().signal;
const mp3: Encoding = { kind: "encoded", format: "mp3" };

describe("A streamed synthesis", () => {
  const real = duringSuite(openRealTools);
  let sound: Buffer;
  before(async () => {
    const { render } = createRenderer({
      engines: () => real.engine,
      encoder: real.encoder,
      maxAudioBytes: 1_000_000,
    });
    const spoken = renditionOf("A sound that is received while it is made.");
    sound = Buffer.concat(await collect(render(spoken, { progressive: false }, never)));
  });

  let path: string;
  let store: FaultyStore;
  let time: ManualTime;
  let gate: Gate;
  let requests: { voice: string; progressive: boolean | undefined; signal: AbortSignal }[];
  let pipeline: Pipeline;

  /**
   * Emits a real mp3 in four pieces, one per opening of the gate; the voice `broken` fails after
   * two.
   */
  const engine: Engine = {
    code: "g1",
    version: () => "1",
    prosody: () => [],
    takesSsml: () => false,
    synthesize: async ({ voice, progressive }, signal) => {
      requests.push({ voice, progressive, signal });
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
    store = withFaults(await openFilesystemAudioStore({ path }));
    time = createManualTime();
    gate = closedGate();
    requests = [];
    pipeline = pipelineWith();
  });
  afterEach(async () => {
    await store.close();
    await rm(path, { recursive: true });
  });
  const pipelineWith = (spoken = engine): Pipeline =>
    createPipeline({
      engines: () => spoken,
      encoder: real.encoder,
      store,
      cache: createMemoryCache(),
      time,
      random: () => 1,
    });

  const rendition = renditionOf("Hello.", { websiteId: "w1", voice: "whole" });
  const stored = (): Promise<void> => until(() => pipeline.stats().writes.pendingObjects === 0);
  const bytesOf = async (audio: AsyncIterable<Buffer>): Promise<Buffer> =>
    Buffer.concat(await collect(audio));

  it("delivers the first bytes before the synthesis ends, and the rest as they come", async () => {
    const beginning = pipeline.stream([rendition], never);
    await gate.reached();
    gate.step();
    const { audio, source, failed } = await beginning;
    expect({ source, failed }).to.deep.equal({ source: "miss", failed: [] });
    const reading = audio[Symbol.asyncIterator]();
    const first: Buffer = (await reading.next()).value;
    expect(first.equals(sound.subarray(0, first.length))).to.equal(true);
    expect(requests.map(({ progressive }) => progressive)).to.deep.equal([true]);
    gate.open();
    const rest: Buffer[] = [];
    for (let next = await reading.next(); !next.done; next = await reading.next()) rest.push(next.value);
    expect(Buffer.concat([first, ...rest]).equals(sound)).to.equal(true);
  });

  it("is cached after it ended normally, in memory and in the store", async () => {
    gate.open();
    await collect((await pipeline.stream([rendition], never)).audio);
    const again = await pipeline.stream([rendition], never);
    expect(again.source).to.equal("memory");
    expect((await bytesOf(again.audio)).equals(sound)).to.equal(true);
    expect((await pipeline.obtain([rendition], never)).source).to.equal("memory");
    await stored();
    pipeline = pipelineWith();
    const fromStore = await pipeline.stream([rendition], never);
    expect(fromStore.source).to.equal("store");
    expect((await bytesOf(fromStore.audio)).equals(sound)).to.equal(true);
    expect(requests).to.have.length(1);
  });

  it("is shared by concurrent callers, streamed or whole", async () => {
    const first = pipeline.stream([rendition], never);
    await gate.reached();
    gate.step(2);
    const early = await first;
    const late = await pipeline.stream([rendition], never);
    const whole = pipeline.obtain([rendition], never);
    gate.open();
    expect(late.source).to.equal("coalesced");
    for (const audio of [early.audio, late.audio]) {
      expect((await bytesOf(audio)).equals(sound)).to.equal(true);
    }
    expect((await whole).source).to.equal("coalesced");
    expect((await whole).bytes.equals(sound)).to.equal(true);
    expect(requests).to.have.length(1);
  });

  it("is not cached when it failed midway, and the next request starts a new synthesis", async () => {
    const broken = renditionOf("Hello.", { engine: "gwn", websiteId: "w1", voice: "broken" });
    gate.open();
    const { audio } = await pipeline.stream([broken], never);
    expect(await rejection(collect(audio))).to.be.instanceOf(EngineFailed);
    expect(pipeline.fromMemory(broken)).to.equal(undefined);
    expect(pipeline.stats().writes.pendingObjects).to.equal(0);
    await rejection(collect((await pipeline.stream([broken], never)).audio));
    expect(requests).to.have.length(2);
  });

  it("falls back to the next rendition before the first byte, never midway", async () => {
    const refusing = renditionOf("Hello.", { websiteId: "w1", voice: "refusing", systemVoice: "the first" });
    gate.open();
    const stream = await pipeline.stream([refusing, rendition], never);
    expect(stream.failed).to.deep.equal(["the first"]);
    expect(stream.rendition).to.equal(rendition);
    expect((await bytesOf(stream.audio)).equals(sound)).to.equal(true);
    const broken = renditionOf("Hello.", { engine: "gwn", websiteId: "w1", voice: "broken" });
    const midway = await pipeline.stream([broken, rendition], never);
    expect(await rejection(collect(midway.audio))).to.be.instanceOf(EngineFailed);
  });

  it("falls back from a voice that cannot pronounce the text, and refuses the text if no voice can", async () => {
    const refusing = renditionOf("Hello.", { websiteId: "w1", voice: "refusing" });
    const mute = renditionOf("Hello.", { voice: "mute" });
    gate.open();
    expect((await pipeline.stream([mute, rendition], never)).rendition).to.equal(rendition);
    expect(await rejection(pipeline.stream([mute, refusing], never))).to.be.instanceOf(Unpronounceable);
    expect(await rejection(pipeline.stream([refusing, mute], never))).to.be.instanceOf(EngineFailed);
  });

  it("aborts the engine when the last listener leaves, and caches nothing", async () => {
    const leaving = new AbortController();
    const beginning = pipeline.stream([rendition], leaving.signal);
    await gate.reached();
    gate.step();
    const { audio } = await beginning;
    const reading = rejection(collect(audio));
    leaving.abort(new Error("left"));
    await reading;
    expect(requests[0]?.signal.aborted).to.equal(true);
    expect(pipeline.stats().inFlight).to.equal(0);
    expect(pipeline.fromMemory(rendition)).to.equal(undefined);
  });

  for (const format of ["mp3", "wav", "pcm"] as const) {
    it(`releases its tools when a listener of ${format} leaves without reading on`, async () => {
      pipeline = pipelineWith(real.engine);
      const long = renditionOf("Nobody hears the end of this text. ".repeat(60), { format });
      const leaving = new AbortController();
      await pipeline.stream([long], leaving.signal);
      leaving.abort();
      await eventually("no tool runs", () => real.running() === 0);
    });
  }

  it("is awaited for ten minutes by requests for complete audio, once it has begun", async () => {
    const wanted = pipeline.obtain([rendition], never);
    await gate.reached();
    time.advance(59_999);
    gate.step();
    await until(() => requests.length === 1);
    await gate.reached();
    time.advance(540_000);
    gate.open();
    expect((await wanted).bytes.equals(sound)).to.equal(true);
  });

  it("ends after ten minutes for requests for complete audio, as a failure of the service", async () => {
    const tooLate = rejection(pipeline.obtain([rendition], never));
    await gate.reached();
    gate.step();
    await gate.reached();
    time.advance(599_999);
    expect(requests[0]?.signal.aborted).to.equal(false);
    time.advance(1);
    expect(await tooLate).to.be.instanceOf(Unavailable);
    await until(() => requests[0]?.signal.aborted === true);
  });

  it("has a deadline for its first byte, and none afterwards", async () => {
    const tooLate = rejection(pipeline.stream([rendition], never));
    await gate.reached();
    time.advance(60_000);
    expect(await tooLate).to.be.instanceOf(Unavailable);
    await until(() => requests[0]?.signal.aborted === true);

    const beginning = pipeline.stream([rendition], never);
    await gate.reached();
    gate.step();
    const { audio } = await beginning;
    time.advance(3_600_000);
    gate.open();
    expect((await bytesOf(audio)).equals(sound)).to.equal(true);
  });
});
