import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { quiet } from "../../../src/audio/pipeline/log.ts";
import { StoreWriter, type StoreWriterOptions } from "../../../src/audio/pipeline/store-writer.ts";
import { type AudioContent, hashInName } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { type FaultyStore, withFaults } from "./faulty-store.ts";
import { nameOf, objectOf, soundOf } from "./sounds.ts";

describe("Writing to the audio store", () => {
  let path: string;
  let store: FaultyStore;
  let time: ManualTime;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-writer-"));
    store = withFaults(await openFilesystemAudioStore({ path }));
    time = createManualTime();
  });
  afterEach(async () => {
    store.mode = "refuses"; // no new put starts
    await store.close();
    await rm(path, { recursive: true });
  });

  const writerWith = (more: Partial<StoreWriterOptions> = {}): StoreWriter =>
    new StoreWriter({
      store,
      time,
      log: quiet,
      random: () => 1,
      pendingBytes: 1024 * 1024,
      writesAtOnce: 4,
      writeMs: 30_000,
      retryMs: 60_000,
      ...more,
    });

  const hashOf = (index: number): string => hashInName(nameOf(index)) ?? "";
  const isStored = async (index: number): Promise<boolean> =>
    soundOf(index).equals((await store.get(nameOf(index)))?.bytes ?? Buffer.alloc(0));

  it("serves a pending object until the store has it", async () => {
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    expect(soundOf(1).equals(writer.pending(nameOf(1))?.bytes as Buffer)).to.equal(true);
    await until(() => writer.stats().written === 1);
    await until(() => writer.pending(nameOf(1)) === undefined);
    expect(await isStored(1)).to.equal(true);
    expect(writer.stats()).to.deep.equal({
      pendingObjects: 0,
      pendingBytes: 0,
      written: 1,
      writtenBytes: soundOf(1).length,
      retried: 0,
      lost: 0,
      isFull: false,
    });
  });

  it("does not write a pending object whose hash is deleted", async () => {
    store.mode = "refuses";
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    await until(() => store.puts.length === 1 && time.waiting() === 1);
    writer.forget(hashOf(1));
    expect(writer.pending(nameOf(1))).to.equal(undefined);
    store.mode = "available";
    time.advance(100);
    await until(() => writer.stats().pendingObjects === 0);
    expect(store.puts).to.have.lengthOf(1);
    expect(await isStored(1)).to.equal(false);
  });

  it("removes an object whose hash is deleted while it is written, but not one that is made afterwards", async () => {
    const writer = writerWith();
    const begun = Promise.withResolvers<void>();
    const deleted = Promise.withResolvers<void>();
    const { put } = store;
    store.put = async (name, object) => {
      await put(name, object);
      begun.resolve();
      await deleted.promise;
      return undefined;
    };
    writer.put(nameOf(1), objectOf(soundOf(1)));
    await begun.promise;
    await store.remove(hashOf(1));
    await put(nameOf(1), objectOf(soundOf(1))); // as if the store had taken longer
    writer.forget(hashOf(1));
    store.put = put;
    writer.put(nameOf(2), objectOf(soundOf(2)));
    await until(() => writer.stats().written === 1);
    deleted.resolve();
    await until(() => writer.stats().pendingObjects === 0);
    expect([await isStored(1), await isStored(2)]).to.deep.equal([false, true]);
    writer.put(nameOf(1), objectOf(soundOf(1)));
    await until(() => writer.stats().pendingObjects === 0);
    expect(await isStored(1)).to.equal(true);
  });

  it("writes an object that is made again while its deleted predecessor is written", async () => {
    const writer = writerWith();
    const deleted = Promise.withResolvers<void>();
    const { put } = store;
    store.put = async (name, object) => {
      store.put = put;
      await put(name, object);
      await deleted.promise;
      return undefined;
    };
    writer.put(nameOf(1), objectOf(soundOf(1)));
    writer.forget(hashOf(1));
    writer.put(nameOf(1), objectOf(soundOf(1)));
    deleted.resolve();
    await until(() => writer.stats().pendingObjects === 0);
    expect(await isStored(1)).to.equal(true);
    expect(writer.stats().pendingBytes).to.equal(0);
  });

  describe("when the store has an object of the same name already", () => {
    const kept: [string, AudioContent][] = [];
    const writer = (): StoreWriter =>
      writerWith({ onKept: (name, object) => void kept.push([name, object]) });
    beforeEach(() => {
      kept.length = 0;
    });

    it("reports the existing object when its bytes are others", async () => {
      await store.put(nameOf(1), objectOf(soundOf(2)));
      const own = writer();
      own.put(nameOf(1), objectOf(soundOf(1)));
      await own.written(nameOf(1));
      expect(own.stats()).to.include({ written: 1, writtenBytes: 0, pendingObjects: 0 });
      expect(kept).to.have.length(1);
      expect(kept[0]?.[0]).to.equal(nameOf(1));
      expect(soundOf(2).equals(kept[0]?.[1].bytes as Buffer)).to.equal(true);
    });

    it("reports nothing when its bytes are the same", async () => {
      await store.put(nameOf(1), objectOf(soundOf(1)));
      const own = writer();
      own.put(nameOf(1), objectOf(soundOf(1)));
      await own.written(nameOf(1));
      expect(kept).to.deep.equal([]);
    });

    it("reports nothing when the hash is deleted while it is written", async () => {
      await store.put(nameOf(1), objectOf(soundOf(2)));
      const own = writer();
      own.put(nameOf(1), objectOf(soundOf(1)));
      const written = own.written(nameOf(1));
      own.forget(hashOf(1));
      await written;
      expect(kept).to.deep.equal([]);
      expect(await store.get(nameOf(1))).to.equal(undefined);
    });
  });

  it("does not wait for the write of an object while the store is failing", async () => {
    store.mode = "refuses";
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    await until(() => time.waiting() === 1);
    await writer.written(nameOf(1));
    expect(writer.stats().pendingObjects).to.equal(1);
  });

  it("retries a refused put with growing pauses", async () => {
    store.mode = "refuses";
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    for (const [i, pause] of [100, 200, 400, 800].entries()) {
      await until(() => store.puts.length === i + 1 && time.waiting() === 1);
      time.advance(pause - 1);
      expect(time.waiting()).to.equal(1);
      time.advance(1);
    }
    store.mode = "available";
    await until(() => time.waiting() === 1);
    time.advance(1600);
    await until(() => writer.stats().written === 1);
    expect(await isStored(1)).to.equal(true);
  });

  it("retries a put that was not completed before its deadline", async () => {
    store.mode = "hangs";
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    await until(() => time.waiting() === 1);
    store.mode = "available";
    time.advance(30_000);
    await until(() => time.waiting() === 1);
    time.advance(100);
    await until(() => writer.stats().written === 1);
  });

  it("sends all pending objects after one put has succeeded", async () => {
    store.mode = "refuses";
    const writer = writerWith();
    for (let i = 0; i < 20; i++) writer.put(nameOf(i), objectOf(soundOf(i)));
    await until(() => time.waiting() === 20);
    time.advance(100);
    await until(() => store.puts.length === 40 && time.waiting() === 20);
    store.mode = "available";
    writer.put(nameOf(20), objectOf(soundOf(20)));
    await until(() => writer.stats().written === 21);
    expect(time.waiting()).to.equal(0);
  });

  it("gives up after a bounded time", async () => {
    store.mode = "refuses";
    const writer = writerWith();
    writer.put(nameOf(1), objectOf(soundOf(1)));
    while (writer.stats().lost === 0) {
      await until(() => time.waiting() === 1 || writer.stats().lost === 1);
      expect(time.now()).to.be.at.most(60_000 + 30_000);
      time.advance(1000);
    }
    expect(writer.pending(nameOf(1))).to.equal(undefined);
  });

  it("drops objects beyond the bound on pending bytes, and accepts more when there is room", async () => {
    store.mode = "refuses";
    const logged: object[] = [];
    const log = { ...quiet, warn: (facts: object) => void logged.push(facts) };
    const writer = writerWith({ pendingBytes: 50_000, log });
    for (let i = 0; i < 5; i++) writer.put(nameOf(i), objectOf(soundOf(i)));
    expect(writer.stats()).to.include({ pendingObjects: 2, lost: 3 });
    const objects = logged.flatMap((facts) => ("object" in facts ? [facts.object] : []));
    expect(objects).to.deep.equal([2, 3, 4].map(nameOf));
    expect(writer.stats().pendingBytes).to.be.at.most(50_000);
    store.mode = "available";
    await until(() => time.waiting() === 2);
    time.advance(100);
    await until(() => writer.stats().pendingObjects === 0);
    writer.put(nameOf(7), objectOf(soundOf(7)));
    await until(() => writer.stats().written === 3);
  });

  it("accepts a pending object only once", async () => {
    const writer = writerWith();
    for (let i = 0; i < 5; i++) writer.put(nameOf(1), objectOf(soundOf(1)));
    await until(() => writer.stats().pendingObjects === 0);
    expect(store.puts).to.have.length(1);
  });

  it("never exceeds its bound on concurrent writes", async () => {
    store.mode = "hangs";
    const writer = writerWith({ writesAtOnce: 3 });
    for (let i = 0; i < 10; i++) writer.put(nameOf(i), objectOf(soundOf(i)));
    await until(() => store.puts.length === 3);
    expect(time.waiting()).to.equal(3);
  });

  it("does not retry an invalid put", async () => {
    const writer = writerWith();
    writer.put("nonsense", objectOf(soundOf(1)));
    await until(() => writer.stats().lost === 1);
    expect(writer.stats()).to.include({ retried: 0, pendingObjects: 0 });
  });

  describe("on close", () => {
    it("waits for all pending objects, without long pauses", async () => {
      store.mode = "refuses";
      const writer = writerWith();
      for (let i = 0; i < 10; i++) writer.put(nameOf(i), objectOf(soundOf(i)));
      await until(() => time.waiting() === 10);
      store.mode = "available";
      expect(await writer.drain(10_000)).to.equal(0);
      for (let i = 0; i < 10; i++) expect(await isStored(i)).to.equal(true);
      expect(time.waiting()).to.equal(0);
    });

    it("stops waiting at its deadline, drops the rest, clears its timers and accepts no more", async () => {
      store.mode = "refuses";
      const writer = writerWith();
      writer.put(nameOf(1), objectOf(soundOf(1)));
      await until(() => time.waiting() === 1);
      const left = writer.drain(10_000);
      let over = false;
      const ended = left.then(() => {
        over = true;
      });
      while (!over) {
        await until(() => time.waiting() > 0 || over);
        time.advance(100);
      }
      await ended;
      expect(await left).to.equal(1);
      await until(() => writer.stats().lost === 1);
      expect(time.waiting()).to.equal(0);
      writer.put(nameOf(2), objectOf(soundOf(2)));
      expect(writer.stats()).to.include({ pendingObjects: 0, lost: 2 });
    });
  });
});
