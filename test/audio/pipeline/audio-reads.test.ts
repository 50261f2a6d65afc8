import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Encoder } from "../../../src/audio/formats/encoder.ts";
import { quiet } from "../../../src/audio/pipeline/log.ts";
import { createMemoryCache } from "../../../src/audio/pipeline/memory-cache.ts";
import { createPipeline, type Pipeline, type PipelineOptions } from "../../../src/audio/pipeline/pipeline.ts";
import { type AudioPart, hashInName } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { Unavailable } from "../../../src/domain/errors.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { nameOf, objectOf, soundOf } from "./sounds.ts";

const never = new AbortController().signal;
const everything = { start: 0, end: Number.POSITIVE_INFINITY };
const partBytes = 1000;

describe("Reading an object by its name", () => {
  let path: string;
  let store: FaultyStore;
  let cache: ReturnType<typeof createMemoryCache>;
  let pipeline: Pipeline;
  const warnings: [facts: object, message: string][] = [];
  const name = nameOf(1);
  const sound = soundOf(1, 4500);

  const pipelineWith = (more: Partial<PipelineOptions> = {}): Pipeline =>
    createPipeline({
      engines: () => undefined,
      encoder: {} as Encoder,
      store,
      cache,
      time: createManualTime(),
      log: { ...quiet, warn: (...warning) => void warnings.push(warning) },
      limits: { partBytes },
      ...more,
    });

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-reads-"));
    store = withFaults(await openFilesystemAudioStore({ path }));
    cache = createMemoryCache();
    pipeline = pipelineWith();
    warnings.length = 0;
  });
  afterEach(() => rm(path, { recursive: true }));

  const read = async (range = everything, signal = never): Promise<AudioPart[]> => {
    const parts: AudioPart[] = [];
    for await (const part of pipeline.readAudio(name, range, { signal })) parts.push(part);
    return parts;
  };
  const bytesOf = (parts: readonly AudioPart[]): Buffer => Buffer.concat(parts.map(({ bytes }) => bytes));
  const changeFile = async (change: (file: Buffer) => Buffer): Promise<void> => {
    const [found] = (await readdir(path, { recursive: true })).filter((file) => file.endsWith(".mp3"));
    const file = join(path, found ?? "");
    await writeFile(file, change(await readFile(file)));
  };
  const withChangedByte = (at: number) => (file: Buffer) => {
    file.writeUInt8(file.readUInt8(at) ^ 1, at);
    return file;
  };

  for (const where of ["memory", "the store"] as const) {
    describe(`in ${where}`, () => {
      beforeEach(async () => {
        if (where === "memory") cache.set(name, objectOf(sound));
        else await store.put(name, objectOf(sound));
      });

      it("returns its size and length without its bytes", async () => {
        const info = await pipeline.statAudio(name, never);
        expect(info).to.deep.include({ size: 4500, length: objectOf(sound).length });
        expect(info).to.not.have.property("bytes");
        expect(store.gets).to.deep.equal([]);
      });

      for (const [start, end] of [
        [0, Number.POSITIVE_INFINITY],
        [0, 4500],
        [0, 1],
        [999, 1001],
        [1000, 3000],
        [4499, 4500],
      ] as const) {
        it(`returns bytes ${start} to ${end} in parts of a bounded size, without loading the object`, async () => {
          const parts = await read({ start, end });
          expect(sound.subarray(start, end).equals(bytesOf(parts))).to.equal(true);
          for (const { bytes } of parts) expect(bytes.length).to.be.within(1, partBytes);
          expect(parts.map(({ size }) => size)).to.deep.equal(parts.map(() => 4500));
          expect(store.gets).to.deep.equal([]);
        });
      }

      it("returns parts that do not keep the object in memory", async () => {
        const cached = cache.get(name)?.bytes.buffer;
        for (const { bytes } of await read()) expect(bytes.buffer).to.not.equal(cached);
      });

      it("waits before each part until its bytes may be held", async () => {
        const asked: number[] = [];
        const gates = [Promise.resolve(), Promise.resolve(), new Promise<void>(() => undefined)];
        const parts = pipeline.readAudio(name, everything, {
          signal: never,
          beforePart: (bytes) => {
            asked.push(bytes);
            return gates[asked.length - 1] as Promise<void>;
          },
        });
        expect((await parts.next()).value?.bytes).to.have.length(1000);
        expect((await parts.next()).value?.bytes).to.have.length(1000);
        void parts.next();
        await until(() => asked.length === 3);
        expect(asked).to.deep.equal([1000, 1000, 1000]);
        const last: number[] = [];
        const beforePart = async (bytes: number) => void last.push(bytes);
        for await (const _ of pipeline.readAudio(name, everything, { signal: never, beforePart }));
        expect(last).to.deep.equal([1000, 1000, 1000, 1000, 500]);
      });
    });
  }

  it("returns nothing for an object that does not exist", async () => {
    expect(await pipeline.statAudio(name, never)).to.equal(undefined);
    expect(await read()).to.deep.equal([]);
  });

  it("never returns the last part of a whole object of which a byte has changed", async () => {
    for (const at of [0, 2500, 4499]) {
      await store.remove(hashInName(name) ?? "");
      await store.put(name, objectOf(sound));
      await changeFile(withChangedByte(at));
      const parts: AudioPart[] = [];
      const reading = (async () => {
        for await (const part of pipeline.readAudio(name, everything, { signal: never })) parts.push(part);
      })();
      expect(await rejection(reading)).to.be.instanceOf(Unavailable);
      expect(bytesOf(parts)).to.have.length(4000);
    }
    expect(warnings).to.deep.equal(
      Array(3).fill([{ object: name }, "An object in the audio store is damaged and treated as missing."]),
    );
  });

  it("treats a changed object of a single part, and one without some bytes, as missing", async () => {
    await store.put(name, objectOf(soundOf(1, 700)));
    await changeFile(withChangedByte(3));
    expect(await read()).to.deep.equal([]);
    await changeFile((file) => file.subarray(0, 500));
    expect(await read({ start: 2, end: 5 })).to.deep.equal([]);
    expect(await pipeline.statAudio(name, never)).to.equal(undefined);
  });

  it("fails if the object is removed, or replaced by another, after the first part", async () => {
    for (const replace of [
      () => Promise.resolve(undefined),
      () => store.put(name, objectOf(soundOf(1, 4600))),
    ]) {
      await store.put(name, objectOf(sound));
      const parts = pipeline.readAudio(name, everything, { signal: never });
      await parts.next();
      await store.remove(hashInName(name) ?? "");
      await replace();
      expect(await rejection(parts.next())).to.be.instanceOf(Unavailable);
    }
  });

  it("reports a store that cannot be read, instead of claiming that the object does not exist", async () => {
    store.mode = "refuses";
    expect(await rejection(read())).to.be.instanceOf(Unavailable);
    expect(await rejection(pipeline.statAudio(name, never))).to.be.instanceOf(Unavailable);
  });

  it("reads a bounded number of parts at once, and lets others wait instead of refusing them", async () => {
    await store.put(name, objectOf(sound));
    let [running, most] = [0, 0];
    const counted = async <T>(call: () => Promise<T>): Promise<T> => {
      most = Math.max(most, ++running);
      return await call().finally(() => running--);
    };
    const counting: FaultyStore = {
      ...store,
      stat: (...args) => counted(() => store.stat(...args)),
      read: (...args) => counted(() => store.read(...args)),
    };
    pipeline = pipelineWith({ store: counting, limits: { partBytes, audioReads: 3 } });
    const reading = Promise.all(Array.from({ length: 200 }, () => read()));
    const stats = Promise.all(Array.from({ length: 200 }, () => pipeline.statAudio(name, never)));
    for (const parts of await reading) expect(sound.equals(bytesOf(parts))).to.equal(true);
    for (const info of await stats) expect(info?.size).to.equal(4500);
    expect(most).to.equal(3);
  });

  it("ends with the signal's reason when the client leaves", async () => {
    await store.put(name, objectOf(sound));
    const reason = new Error("the client has left");
    expect(await rejection(read(everything, AbortSignal.abort(reason)))).to.equal(reason);
  });

  it("reports the use of an object that is not in memory, so that retention keeps it", async () => {
    await store.put(name, objectOf(sound));
    const usedAt = (await store.stat(name))?.usedAt ?? 0;
    let now = usedAt;
    const used: string[] = [];
    cache = createMemoryCache({
      uses: { intervalMs: 1000, report: (object) => void used.push(object), clock: () => now },
    });
    pipeline = pipelineWith();
    await read();
    expect(used).to.deep.equal([]);
    now += 1000;
    await pipeline.statAudio(name, never);
    await read();
    expect(used).to.deep.equal([name]);
  });
});
