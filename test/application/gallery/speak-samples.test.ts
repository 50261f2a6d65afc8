import { expect } from "chai";
import type { Gallery, GalleryVoice } from "../../../src/application/gallery/gallery.ts";
import { createSpeakSamples } from "../../../src/application/gallery/speak-samples.ts";
import type { Pipeline, Rendition } from "../../../src/audio/pipeline/pipeline.ts";
import { EngineFailed, Unavailable } from "../../../src/domain/errors.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";

const at = "2026-11-05T10:00:00.000Z";

const voiceNamed = (name: string): GalleryVoice => {
  const hash = `hash of ${name}`;
  const recipe = { engine: "g1", lang: "en-GB", format: "mp3", text: "The sample." };
  const sample = { hash, name: `public/${hash}.mp3`, voice: name, recipe } as unknown as Rendition;
  return { names: [name], sample } as unknown as GalleryVoice;
};

const setUp = (
  names: readonly string[],
  { stored = [] as string[], fails = {} as Record<string, Error>, takesMs = 0, rest = 0 } = {},
) => {
  const objects = new Set(stored.map((name) => voiceNamed(name).sample.name));
  const recorded = new Set(stored.map((name) => voiceNamed(name).sample.hash));
  const events: unknown[] = [];
  const spoken: string[] = [];
  const state = { isIdle: true, voices: names.map(voiceNamed) };
  const time = createManualTime();
  const gallery: Gallery = {
    voices: async () => state.voices,
    isSpoken: ({ sample }) => recorded.has(sample.hash),
    hasAudio: () => true,
  };
  const pipeline: Pick<Pipeline, "obtain" | "statAudio"> = {
    statAudio: async (name) => (objects.has(name) ? ({ size: 1 } as never) : undefined),
    obtain: async ([sample]) => {
      const { voice = "", name = "" } = sample ?? {};
      time.advance(takesMs);
      if (fails[voice]) throw fails[voice];
      spoken.push(voice);
      objects.add(name as never);
      return {} as never;
    },
  };
  const speakSamples = createSpeakSamples({
    gallery,
    pipeline,
    execute: async (decider, stream, decide, context) => {
      const initial = { spoken: Object.fromEntries([...recorded].map((hash) => [hash, true])) };
      for (const event of decide(initial as never)) {
        events.push({ stream, ...event, context });
        recorded.add((event.data as { hash: string }).hash);
      }
      return decider.initial();
    },
    isIdle: () => state.isIdle,
    clock: () => Date.parse(at),
    time,
    rest,
  });
  return {
    speakSamples,
    state,
    time,
    objects,
    events,
    spoken,
    run: () => speakSamples(new AbortController().signal),
  };
};

describe("the samples of the gallery", () => {
  it("are spoken once and recorded without a key, a charge and the text", async () => {
    const { run, events, spoken, state } = setUp(["A"]);
    expect(await run()).to.deep.equal({ voices: 1, spoken: 1, failed: {} });
    state.voices = [voiceNamed("A")];
    expect(await run()).to.deep.equal({ voices: 1, spoken: 0, failed: {} });
    expect(spoken).to.deep.equal(["A"]);
    const data = { hash: "hash of A", engine: "g1", voice: "A", lang: "en-GB", format: "mp3", at };
    expect(events).to.deep.equal([
      { stream: "audio", type: "SampleSpoken", data, context: { actor: "system" } },
    ]);
  });

  it("are made again without another event after the store has lost them", async () => {
    const { run, events, spoken, state, objects } = setUp(["A"], { stored: ["A"] });
    await run();
    expect(spoken).to.deep.equal([]);
    objects.clear();
    state.voices = [voiceNamed("A")];
    await run();
    expect(spoken).to.deep.equal(["A"]);
    expect(events).to.deep.equal([]);
  });

  it("wait while a request needs an engine", async () => {
    const { run, spoken, state, time } = setUp(["A"]);
    state.isIdle = false;
    const running = run();
    await until(() => time.waiting() === 1);
    time.advance(250);
    await until(() => time.waiting() === 1);
    expect(spoken).to.deep.equal([]);
    state.isIdle = true;
    time.advance(250);
    await running;
    expect(spoken).to.deep.equal(["A"]);
  });

  it("rest after each sample for a multiple of the time that it took, and wait again for requests", async () => {
    const { run, spoken, state, time } = setUp(["A", "B"], { takesMs: 100, rest: 6 });
    const running = run();
    await until(() => time.waiting() === 1);
    time.advance(599);
    expect(time.waiting()).to.equal(1);
    expect(spoken).to.deep.equal(["A"]);
    state.isIdle = false;
    time.advance(1);
    await until(() => time.waiting() === 1);
    expect(spoken).to.deep.equal(["A"]);
    state.isIdle = true;
    time.advance(250);
    await running;
    expect(spoken).to.deep.equal(["A", "B"]);
  });

  it("rest after a failure, and before the first sample of the next run", async () => {
    const fails = { A: new EngineFailed("it is broken", {}) };
    const { run, spoken, state, time } = setUp(["A"], { fails, takesMs: 100, rest: 6 });
    await run();
    state.voices = [voiceNamed("B")];
    const running = run();
    await until(() => time.waiting() === 1);
    expect(spoken).to.deep.equal([]);
    time.advance(600);
    await running;
    expect(spoken).to.deep.equal(["B"]);
  });

  it("follow each other without a rest if none is asked for", async () => {
    const { run, spoken, time } = setUp(["A", "B"], { takesMs: 100 });
    await run();
    expect(spoken).to.deep.equal(["A", "B"]);
    expect(time.now()).to.equal(200);
  });

  it("do not end with a voice that fails, which is tried again when the voices are listed again", async () => {
    const fails: Record<string, Error> = { A: new EngineFailed("it is broken", {}) };
    const { run, spoken, state } = setUp(["A", "B"], { fails });
    expect(await run()).to.deep.equal({ voices: 2, spoken: 1, failed: { A: "it is broken" } });
    expect((await run()).failed).to.deep.equal({});
    delete fails.A;
    state.voices = [voiceNamed("A"), voiceNamed("B")];
    await run();
    expect(spoken).to.deep.equal(["B", "A"]);
  });

  it("end while the service is overloaded, and continue at the next run", async () => {
    const fails: Record<string, Error> = { A: new Unavailable("too much", 2) };
    const { run, spoken } = setUp(["A"], { fails });
    expect(await rejection(run())).to.be.instanceOf(Unavailable);
    delete fails.A;
    await run();
    expect(spoken).to.deep.equal(["A"]);
  });
});
