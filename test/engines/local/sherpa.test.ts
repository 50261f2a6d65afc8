import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { createWaiter } from "../../../src/async/scheduler/waiter.ts";
import { EngineFailed, Unavailable } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { openPacks } from "../../../src/engines/models/open-packs.ts";
import { engineContract, say } from "../../contracts/engine.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { type ModelEngine, modelLimits, openModelEngine, openModels } from "../../support/model-engine.ts";
import { packNames, placePacks } from "../../support/models.ts";
import { descendantsOf, gone, signal, until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { wordAt } from "../../support/word-at.ts";

const never = new AbortController().signal;
const requestFor = (voice: string, changes: Partial<SpeechRequest> = {}): SpeechRequest => ({
  text: "hello world, this is a sentence.",
  ssml: false,
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
  voice: `sherpa:${voice}`,
  ...changes,
});
const piper = `${packNames.piper}#0`;
const german = `${packNames.characters}#0`;
const kokoro = `${packNames.kokoro}#0`;

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It exited meanwhile.
  }
};

engineContract("a model of sherpa-onnx", async () => {
  const packs = await placePacks("piper");
  const { engine, host, close } = await openModelEngine(packs.folder);
  return {
    engine,
    request: requestFor(piper),
    longText: "a sentence of the story. ".repeat(200),
    unspeakable: "… !",
    idle: () => until("no job runs", () => host.stats().running === 0),
    end: async () => {
      await close();
      await packs.remove();
    },
  };
});

describe("The models of sherpa-onnx", () => {
  const packs = duringSuite(() => placePacks("piper", "characters", "kokoro"));
  const model = duringSuite(() => openModelEngine(packs.folder));

  const processesOf = ({ host }: ModelEngine, name = "") =>
    descendantsOf(host.stats().pid ?? 0)
      .map(({ pid }) => ({ pid, commandLine: commandLineOf(pid) }))
      .filter(({ commandLine }) => commandLine.includes("/sherpa/speaker.ts") && commandLine.includes(name));
  const modelProcesses = (name?: string) => processesOf(model, name);

  it("are loaded at their first use, each in a process of its own below the helper", async () => {
    expect(modelProcesses()).to.have.lengthOf(0);
    await say(model.engine, requestFor(piper));
    expect(modelProcesses(packNames.piper)).to.have.lengthOf(1);
    await say(model.engine, requestFor(german));
    await say(model.engine, requestFor(`${packNames.characters}#1`));
    expect(modelProcesses()).to.have.lengthOf(2);
  });

  it("speak with the speaker that the voice names", async () => {
    const [one, other] = [`${packNames.characters}#0`, `${packNames.characters}#1`].map((voice) =>
      say(model.engine, requestFor(voice)),
    );
    expect((await one)?.equals((await other) as Buffer)).to.equal(false);
  });

  it("make the same bytes in every process, where the model is exact", async () => {
    const engines = [model, await openModelEngine(packs.folder), await openModelEngine(packs.folder)];
    try {
      const request = requestFor(piper, { text: "the same bytes. every time, in three processes!" });
      const sounds = new Set<string>();
      for (const { engine } of engines) {
        for (let round = 0; round < 20; round++) sounds.add((await say(engine, request)).toString("base64"));
      }
      expect(sounds.size).to.equal(1);
    } finally {
      await Promise.all(engines.slice(1).map(({ close }) => close()));
    }
  });

  it("are exact or not by their kind, and inexact ones do have other bytes", async () => {
    const { engine } = model;
    expect([piper, german, kokoro].map((voice) => engine.isExact?.(`sherpa:${voice}`))).to.deep.equal([
      true,
      true,
      false,
    ]);
    const [first, second] = [await say(engine, requestFor(kokoro)), await say(engine, requestFor(kokoro))];
    expect(first.length).to.equal(second.length);
    expect(first.equals(second)).to.equal(false);
  });

  it("report the beginning of each sentence as a mark", async () => {
    const text = "One is here. Two follows!  And three?";
    const { encoding, audio, marks } = await model.engine.synthesize(requestFor(german, { text }), never);
    let bytes = 0;
    for await (const chunk of audio) bytes += chunk.length;
    const found = marks?.() ?? [];
    expect(found.map((mark) => [mark.type, wordAt(text, mark)])).to.deep.equal([
      ["sentence", "One is here."],
      ["sentence", "Two follows!"],
      ["sentence", "And three?"],
    ]);
    const rate = encoding.kind === "pcm" ? encoding.sampleRate : 0;
    const length = bytes / 2 / rate;
    const [first, second, third] = found.map(({ time }) => time / 1000);
    expect(first).to.equal(0);
    expect(second).to.be.closeTo((length * 12) / 34, 0.05);
    expect(third).to.be.closeTo((length * 24) / 34, 0.05);
  });

  it("speak SSML as its texts and breaks", async () => {
    const document = '<speak>abc<break time="500ms"/><sub alias="de">x</sub></speak>';
    const spoken = await say(model.engine, requestFor(german, { text: document, ssml: true }));
    const before = await say(model.engine, requestFor(german, { text: "abc" }));
    const after = await say(model.engine, requestFor(german, { text: "de" }));
    const pauseBytes = 16_000;
    expect(spoken.length).to.equal(before.length + pauseBytes + after.length);
    const pause = spoken.subarray(before.length, before.length + pauseBytes);
    expect(pause.equals(Buffer.alloc(pauseBytes))).to.equal(true);
  });

  it("release their queue when a text is aborted midway, and speak the next one", async () => {
    const stop = new AbortController();
    const text = `${"a very long sentence of many words ".repeat(8)}. `.repeat(50);
    const { audio } = await model.engine.synthesize(requestFor(piper, { text }), stop.signal);
    const reader = audio[Symbol.asyncIterator]();
    await reader.next();
    stop.abort(new Error("the caller left"));
    expect(await rejection(Promise.resolve(reader.next()))).to.have.property("message", "the caller left");
    await until("no job runs", () => model.host.stats().running === 0);
    expect((await say(model.engine, requestFor(piper))).length).to.be.above(1000);
  });

  it("end with a text that is aborted amid a sentence and takes long: the next one has another process", async () => {
    const { folder } = packs;
    const { packs: opened } = await openPacks({ paths: {}, folder });
    const pack = opened.get("g1")?.find(({ name }) => name === packNames.characters);
    const { threads, ...limits } = modelLimits;
    const start = { config: pack?.config ?? {}, threads };
    const own = { name: "aborted", program: "sherpa", start, ...limits } as const;
    const stop = new AbortController();
    const first = { text: "abc", position: 0, pauseMs: 0 };
    // The library speaks these for a minute at least.
    const sentences = Array.from({ length: 3_000 }, () => ({ ...first, text: "abcdefghi ".repeat(100) }));
    const request = { speaker: 0, speed: 1, parts: [first, ...sentences] };
    const reader = model.host.speakByModel({ model: own, request }, stop.signal)[Symbol.asyncIterator]();
    const others = new Set(modelProcesses().map(({ pid }) => pid));
    await reader.next();
    const mine = modelProcesses().filter(({ pid }) => !others.has(pid));
    expect(mine).to.have.lengthOf(1);
    expect(model.host.stats().running).to.equal(1);
    stop.abort(new Error("the caller left"));
    expect(await rejection(reader.next() as Promise<unknown>)).to.have.property("message", "the caller left");
    await gone(...mine.map(({ pid }) => pid));
    await until("no job runs", () => model.host.stats().running === 0);
    const next = model.host.speakByModel({ model: own, request: { ...request, parts: [first] } }, never);
    expect(Buffer.concat(await collect(next)).length).to.be.above(1000);
  });

  it("survive a text that they cannot pronounce, in the same process", async () => {
    await say(model.engine, requestFor(german));
    const before = modelProcesses().map(({ pid }) => pid);
    expect(await rejection(say(model.engine, requestFor(german, { text: "ខ្មែរ" })))).to.have.property(
      "name",
      "Invalid",
    );
    expect((await say(model.engine, requestFor(german))).length).to.be.above(1000);
    expect(modelProcesses().map(({ pid }) => pid)).to.deep.equal(before);
    expect(model.states.failures()).to.deep.equal([]);
  });

  it("have another version with other threads, unless their bytes are not exact", async () => {
    const other = await openModelEngine(packs.folder, { threads: 2 });
    try {
      const versions = (voice: string) =>
        [model, other].map(({ engine }) => engine.version(`sherpa:${voice}`));
      expect(new Set(versions(piper)).size).to.equal(2);
      expect(new Set(versions(kokoro)).size).to.equal(1);
      expect(versions(piper)[0]).to.match(
        /^sherpa-onnx 1\.\d+\.\d+; vits [0-9a-f]{32}; preparation \d+; 1 threads; \S+/,
      );
    } finally {
      await other.close();
    }
  });

  it("take a text while the queue of the other tools is full", async () => {
    const host = await openToolHost({ concurrency: 1, queue: { queueLimitPerKey: 1 } });
    const leave = new AbortController();
    try {
      const [engine] = await localEngines({ host, models: await openModels(host, packs.folder) });
      const waiter = createWaiter("key");
      const input = "a long text. ".repeat(10_000);
      const request = { voice: "en", rate: 175, pitch: 50, volume: 100, ssml: false, input };
      // It is not read to its end, so it keeps its slot.
      await host.speak(request, leave.signal, { waiter })[Symbol.asyncIterator]().next();
      const refused = rejection(collect(host.speak(request, leave.signal, { waiter })));
      await until("one waits", () => host.stats().queued === 1);
      expect(await rejection(host.requireCapacity(waiter))).to.be.instanceOf(Unavailable);
      if (!engine) throw new Error("there is no engine");
      const { audio } = await engine.synthesize({ ...requestFor(german), waiter }, never);
      expect(Buffer.concat(await collect(audio)).length).to.be.above(1000);
      leave.abort(new Error("the caller left"));
      expect(await refused).to.have.property("message", "the caller left");
    } finally {
      await host.close();
    }
  });

  it("each have a queue in the fair scheduler", async () => {
    await say(model.engine, requestFor(piper));
    await say(model.engine, requestFor(german));
    const resources = model.scheduler.stats().map(({ resource }) => resource);
    expect(resources).to.include.members([`model_${packNames.piper}`, `model_${packNames.characters}`]);
  });

  it("leave no process after the helper is closed", async () => {
    const closed = await openModelEngine(packs.folder);
    await say(closed.engine, requestFor(german));
    const [speaker] = processesOf(closed);
    await closed.close();
    await gone(speaker?.pid ?? 0);
  });

  it("compute with as many threads as they are given", async () => {
    const other = await openModelEngine(packs.folder, { threads: 3 });
    try {
      const threadsOf = async (one: ModelEngine): Promise<number> => {
        await say(one.engine, requestFor(german));
        const [{ pid } = { pid: 0 }] = processesOf(one, packNames.characters);
        return readdirSync(`/proc/${pid}/task`).length;
      };
      expect((await threadsOf(other)) - (await threadsOf(model))).to.equal(2);
    } finally {
      await other.close();
    }
  });

  it("are unloaded when they are idle", async () => {
    const idle = await openModelEngine(packs.folder, { idleMs: 1 });
    try {
      await say(idle.engine, requestFor(german));
      await until("the model is unloaded", () => processesOf(idle).length === 0);
      expect((await say(idle.engine, requestFor(german))).length).to.be.above(1000);
    } finally {
      await idle.close();
    }
  });

  it("fail alone when their process is killed, and are started again", async () => {
    await say(model.engine, requestFor(piper));
    const [killed] = modelProcesses(packNames.piper);
    signal(killed?.pid, "SIGKILL");
    await gone(killed?.pid ?? 0);
    // A text that arrives before the helper has noticed the death fails with it.
    await say(model.engine, requestFor(piper)).catch(() => undefined);
    expect((await say(model.engine, requestFor(piper))).length).to.be.above(1000);
    expect(model.states.failures()).to.deep.equal([]);
  });

  it("are not started for a while after repeated failures", async () => {
    // The process may have less than Node itself needs: a tiny model may fit into what Node leaves.
    const limited = await openModelEngine(packs.folder, { memoryBytes: -64 * 1024 ** 2 });
    try {
      const failures: string[] = [];
      for (let round = 0; round < 4; round++) {
        const failure = await rejection(say(limited.engine, requestFor(german)));
        expect(failure).to.be.instanceOf(Error);
        failures.push((failure as Error).message);
      }
      expect(failures.at(-1)).to.match(/^The model vits-tiny-de_DE is not used for a while/);
      expect(limited.states.failures().join()).to.match(/^vits-tiny-de_DE: /);
      expect(await rejection(say(limited.engine, requestFor(german)))).to.be.instanceOf(EngineFailed);
    } finally {
      await limited.close();
    }
  });
});
