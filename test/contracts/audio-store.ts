import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  type AudioContent,
  type AudioFiles,
  type AudioName,
  type AudioPart,
  type AudioStore,
  AudioStoreUnavailable,
  DamagedAudio,
  hashInName,
} from "../../src/audio/store/audio-store.ts";
import { type AudioFolder, audioFolders } from "../../src/domain/synthesis/recipe.ts";
import { objectOf } from "../audio/pipeline/sounds.ts";

/** The driver under test: an empty store, a second client of the same storage, and its cleanup. */
export interface AudioStoreSetup {
  readonly store: AudioStore;
  /** Opens a second client of the same storage, as another process would. */
  again(): Promise<AudioStore>;
  /** Makes the storage unusable for reads and writes. */
  breakDown(): Promise<void>;
  /** Closes and removes everything. */
  end(): Promise<void>;
}

const megabyte = 1024 * 1024;
const names = (prefix: AudioFolder, ext: "mp3" | "ogg" | "wav", of: string): AudioName =>
  `${prefix}/${createHash("sha256").update(of).digest("hex")}.${ext}`;

/** The rules of the port (src/audio/store/audio-store.ts), for every driver. */
export const audioStoreContract = (driver: string, setUp: () => Promise<AudioStoreSetup>): void => {
  describe(`the audio store: ${driver}`, () => {
    let place: AudioStoreSetup;
    let store: AudioStore;
    const name = names("public", "mp3", "a sound");
    const sound = randomBytes(20_000);

    beforeEach(async () => {
      place = await setUp();
      store = place.store;
    });
    afterEach(() => place.end());

    describe("get", () => {
      it("returns undefined for a missing object", async () => {
        expect(await store.get(name)).to.equal(undefined);
      });

      it("returns the complete object, byte for byte", async () => {
        await store.put(name, objectOf(sound));
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("returns the same object on every call", async () => {
        await store.put(name, objectOf(sound));
        const responses = await Promise.all(Array.from({ length: 20 }, () => got(store, name)));
        for (const response of responses) expect(sound.equals(response)).to.equal(true);
      });

      it("returns the length of the audio as it was put, without parsing the bytes", async () => {
        const length = { samples: 2 ** 40 + 1, sampleRate: 24_000 };
        await store.put(name, { bytes: sound, length });
        expect((await (await place.again()).get(name))?.length).to.deep.equal(length);
      });

      it("does not expose changes that a caller makes to a returned buffer", async () => {
        await store.put(name, objectOf(sound));
        (await got(store, name)).fill(0);
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("throws the signal's reason when it is already aborted", async () => {
        await store.put(name, objectOf(sound));
        const reason = new Error("the caller left");
        expect(await thrownBy(() => store.get(name, AbortSignal.abort(reason)))).to.equal(reason);
      });

      it("throws the signal's reason when it is aborted midway, or returns the complete object", async () => {
        const big = randomBytes(8 * megabyte);
        await store.put(name, objectOf(big));
        const controller = new AbortController();
        const reason = new Error("the caller left");
        const response = store.get(name, controller.signal);
        controller.abort(reason);
        const outcome = await response.catch((error: unknown) => error);
        if (outcome !== reason) expect(big.equals((outcome as AudioContent).bytes)).to.equal(true);
        expect(big.equals(await got(store, name))).to.equal(true);
      });
    });

    describe("stat", () => {
      it("returns the size, length, checksum and time of last use of an object, as `get` does", async () => {
        const length = { samples: 2 ** 40 + 1, sampleRate: 24_000 };
        await store.put(name, { bytes: sound, length });
        const info = await store.stat(name);
        expect(info).to.deep.include({ size: sound.length, length });
        expect(info?.usedAt).to.equal((await store.get(name))?.usedAt);
        expect(info?.hasChecksum(crc32(sound))).to.equal(true);
        expect(info?.hasChecksum(crc32(sound.subarray(1)))).to.equal(false);
      });

      it("returns undefined for a missing object", async () => {
        expect(await store.stat(name)).to.equal(undefined);
      });

      it("throws the signal's reason when it is already aborted", async () => {
        await store.put(name, objectOf(sound));
        const reason = new Error("the caller left");
        expect(await thrownBy(() => store.stat(name, AbortSignal.abort(reason)))).to.equal(reason);
      });
    });

    describe("read", () => {
      const size = sound.length;
      for (const [what, start, end] of [
        ["the first byte", 0, 1],
        ["the last byte", size - 1, size],
        ["all bytes", 0, size],
        ["bytes in the middle", 7, 4097],
        ["no more than there are, from the first byte", 0, size + 1],
        ["no more than there are, from the last byte", size - 1, 10 * size],
      ] as const) {
        it(`returns ${what}, with what is known of the object`, async () => {
          await store.put(name, objectOf(sound));
          const part = await store.read(name, { start, end });
          expect(part && sound.subarray(start, end).equals(part.bytes)).to.equal(true);
          expect(part).to.deep.include({ size, length: objectOf(sound).length });
          expect(part?.usedAt).to.equal((await store.get(name))?.usedAt);
          expect(part?.hasChecksum(crc32(sound))).to.equal(true);
        });
      }

      it("returns an object of one byte", async () => {
        await store.put(name, objectOf(Buffer.from([7])));
        expect((await store.read(name, { start: 0, end: 1000 }))?.bytes).to.deep.equal(Buffer.from([7]));
      });

      it("reports an object that ends before the range as damaged", async () => {
        await store.put(name, objectOf(sound));
        for (const start of [size, size + 1]) {
          const error = await thrownBy(() => store.read(name, { start, end: start + 10 }));
          expect(error).to.be.instanceOf(DamagedAudio);
        }
      });

      it("returns undefined for a missing object, and for one that was removed after an earlier part", async () => {
        expect(await store.read(name, { start: 0, end: 10 })).to.equal(undefined);
        await store.put(name, objectOf(sound));
        expect((await store.read(name, { start: 0, end: 10 }))?.bytes).to.have.length(10);
        await (await place.again()).remove(hashInName(name) ?? "");
        expect(await store.read(name, { start: 10, end: 20 })).to.equal(undefined);
      });

      it("returns the bytes of a large object part by part, and many parts at once", async () => {
        const big = randomBytes(3 * megabyte + 1);
        await store.put(name, objectOf(big));
        const starts = Array.from({ length: 50 }, (_, i) => i * 65_536).filter((start) => start < big.length);
        const parts = await Promise.all(
          starts.map((start) => store.read(name, { start, end: start + 65_536 })),
        );
        expect(big.equals(Buffer.concat(parts.map((part) => part?.bytes ?? Buffer.alloc(0))))).to.equal(true);
      });

      it("throws the signal's reason when it is aborted, before or midway, and serves later calls", async () => {
        await store.put(name, objectOf(randomBytes(8 * megabyte)));
        const reason = new Error("the caller left");
        const range = { start: 0, end: 8 * megabyte };
        expect(await thrownBy(() => store.read(name, range, AbortSignal.abort(reason)))).to.equal(reason);
        // More than a store has connections.
        for (let round = 0; round < 50; round++) {
          const controller = new AbortController();
          const reading = store.read(name, range, controller.signal).catch((error: unknown) => error);
          controller.abort(reason);
          const outcome = await reading;
          if (outcome !== reason) expect((outcome as AudioPart).bytes).to.have.length(8 * megabyte);
        }
        expect((await store.read(name, { start: 0, end: 10 }))?.bytes).to.have.length(10);
      });
    });

    describe("put", () => {
      for (const [what, size] of [
        ["one byte", 1],
        ["one block and one byte", 4097],
        ["eight megabytes", 8 * megabyte],
      ] as const) {
        it(`stores an object of ${what}`, async () => {
          const bytes = randomBytes(size);
          await store.put(name, objectOf(bytes));
          expect(bytes.equals(await got(store, name))).to.equal(true);
        });
      }

      it("stores any bytes, whatever format the name implies", async () => {
        for (const ext of ["mp3", "ogg", "wav"] as const) {
          const bytes = Buffer.from([0, 255, 13, 10, 0]);
          await store.put(names("public", ext, "any"), objectOf(bytes));
          expect(bytes.equals(await got(store, names("public", ext, "any")))).to.equal(true);
        }
      });

      it("stores only the view when the bytes are part of a larger buffer", async () => {
        await store.put(name, objectOf(sound.subarray(100, 200)));
        expect(sound.subarray(100, 200).equals(await got(store, name))).to.equal(true);
      });

      it("rejects an empty object with a TypeError and stores nothing", async () => {
        expect(await thrownBy(() => store.put(name, objectOf(Buffer.alloc(0))))).to.be.instanceOf(TypeError);
        expect(await store.get(name)).to.equal(undefined);
      });

      it("never overwrites an existing object", async () => {
        await store.put(name, objectOf(sound));
        await store.put(name, objectOf(randomBytes(20_000)));
        await store.put(name, objectOf(randomBytes(30_000)));
        await store.put(name, objectOf(randomBytes(10)));
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("resolves with the existing object, and with nothing when there was none", async () => {
        const length = { samples: 7, sampleRate: 8000 };
        expect(await store.put(name, { bytes: sound, length })).to.equal(undefined);
        const existing = await (await place.again()).put(name, objectOf(randomBytes(30_000)));
        expect(existing && sound.equals(existing.bytes)).to.equal(true);
        expect(existing?.length).to.deep.equal(length);
      });

      it("permanently stores exactly one complete object when many are put concurrently under one name", async () => {
        const rivals = Array.from({ length: 24 }, (_, i) => Buffer.alloc(50_000 + i, i + 1));
        const other = await place.again();
        await Promise.all(rivals.map((bytes, i) => (i % 2 ? store : other).put(name, objectOf(bytes))));
        const kept = await got(store, name);
        expect(rivals.filter((bytes) => bytes.equals(kept))).to.have.length(1);
        await store.put(name, objectOf(sound));
        expect(kept.equals(await got(other, name))).to.equal(true);
        await other.close();
      });

      it("never exposes part of an object during a put", async () => {
        const big = randomBytes(8 * megabyte);
        const written = store.put(name, objectOf(big));
        let done = false;
        const finished = written.then(() => {
          done = true;
        });
        while (!done) {
          const seen = await store.get(name);
          if (seen) expect(big.equals(seen.bytes)).to.equal(true);
        }
        await finished;
      });

      it("keeps concurrently put objects separate", async () => {
        const objects = Array.from({ length: 100 }, (_, i) => ({
          name: names(i % 3 ? "public" : "private", "ogg", `${i}`),
          bytes: randomBytes(1 + i * 37),
        }));
        await Promise.all(objects.map((object) => store.put(object.name, objectOf(object.bytes))));
        for (const object of objects)
          expect(object.bytes.equals(await got(store, object.name))).to.equal(true);
      });

      it("makes the object visible to every other client before it resolves", async () => {
        await store.put(name, objectOf(sound));
        const other = await place.again();
        expect(sound.equals(await got(other, name))).to.equal(true);
        await other.close();
      });
    });

    describe("names", () => {
      it("with another prefix or extension identify different objects, even with the same hash", async () => {
        const all = audioFolders.flatMap((prefix) =>
          (["mp3", "ogg", "wav"] as const).map((ext) => names(prefix, ext, "same")),
        );
        for (const [i, each] of all.entries()) await store.put(each, objectOf(Buffer.from([i])));
        for (const [i, each] of all.entries()) expect([...(await got(store, each))]).to.deep.equal([i]);
      });

      const hash = "0".repeat(64);
      for (const [what, bad] of [
        ["nothing", ""],
        ["a hash without prefix and extension", hash],
        ["no extension", `public/${hash}`],
        ["an unknown format", `public/${hash}.txt`],
        ["a trailing newline", `public/${hash}.mp3\n`],
        ["a short hash", `public/${hash.slice(1)}.mp3`],
        ["capital digits", `public/${hash.slice(1)}A.mp3`],
        ["another prefix", `other/${hash}.mp3`],
        ["a root", `/audio/${hash}.mp3`],
        ["a path to the other prefix", `public/../private/${hash}.mp3`],
        ["a path to a parent directory", `public/${"../".repeat(21)}x.mp3`],
        ["a path below an object", `public/${hash}.mp3/..`],
        ["a NUL byte", `public/${hash}.mp3\0`],
      ] as const) {
        it(`are rejected with a TypeError when invalid: ${what}`, async () => {
          expect(await thrownBy(() => store.put(bad, objectOf(sound)))).to.be.instanceOf(TypeError);
          expect(await thrownBy(() => store.get(bad))).to.be.instanceOf(TypeError);
          expect(await thrownBy(() => store.stat(bad))).to.be.instanceOf(TypeError);
          const part = () => store.read(bad, { start: 0, end: 1 });
          expect(await thrownBy(part)).to.be.instanceOf(TypeError);
        });
      }
    });

    describe("list and remove", () => {
      const never = new AbortController().signal;
      const listed = async (): Promise<AudioFiles[]> => {
        const all: AudioFiles[] = [];
        for await (const one of store.list(never)) all.push(one);
        return all;
      };
      const hashOf = (object: AudioName): string => hashInName(object) ?? "";

      it("lists all audio once, in the order of its names, with its size and the time of its last use", async () => {
        expect(await listed()).to.deep.equal([]);
        const objects = Array.from({ length: 30 }, (_, i) =>
          names(i % 3 ? "public" : "private", "ogg", `${i}`),
        );
        for (const [i, object] of objects.entries()) await store.put(object, objectOf(randomBytes(100 + i)));
        const all = await listed();
        expect(all.map((one) => one.names)).to.deep.equal(objects.toSorted().map((object) => [object]));
        for (const { bytes, usedAt } of all) {
          expect(bytes).to.be.within(100, 200);
          expect(Math.abs(usedAt - Date.now())).to.be.below(10 * 60_000);
        }
      });

      it("lists only the audio of one folder, if it is named", async () => {
        for (const folder of audioFolders) await store.put(names(folder, "ogg", folder), objectOf(sound));
        for (const folder of audioFolders) {
          const found: AudioFiles[] = [];
          for await (const one of store.list(never, folder)) found.push(one);
          expect(found.flatMap((one) => one.names)).to.deep.equal([names(folder, "ogg", folder)]);
        }
      });

      it("lists objects under one hash as one, and removes them together", async () => {
        for (const ext of ["mp3", "wav"] as const)
          await store.put(names("public", ext, "same"), objectOf(sound));
        await store.put(name, objectOf(sound));
        const both = [names("public", "mp3", "same"), names("public", "wav", "same")];
        const hash = hashOf(both[0] ?? "");
        expect((await listed()).find((one) => one.hash === hash)?.names).to.deep.equal(both);
        expect((await store.remove(hash)).toSorted()).to.deep.equal(both);
        for (const gone of both) expect(await store.get(gone)).to.equal(undefined);
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("removes nothing where there is nothing, and accepts the object again afterwards", async () => {
        expect(await store.remove(hashOf(name))).to.deep.equal([]);
        await store.put(name, objectOf(sound));
        expect(await store.remove(hashOf(name))).to.deep.equal([name]);
        expect(await store.remove(hashOf(name))).to.deep.equal([]);
        await store.put(name, objectOf(sound));
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("does not remove what was used later than the condition names", async () => {
        await store.put(name, objectOf(sound));
        const usedAt = (await store.get(name))?.usedAt ?? 0;
        expect(await store.remove(hashOf(name), { unusedSince: usedAt - 1 })).to.deep.equal([]);
        expect(sound.equals(await got(store, name))).to.equal(true);
        expect(await store.remove(hashOf(name), { unusedSince: usedAt })).to.deep.equal([name]);
      });

      it("ends with the reason of an aborted signal", async () => {
        await store.put(name, objectOf(sound));
        const reason = new Error("enough");
        const listing = store.list(AbortSignal.abort(reason))[Symbol.asyncIterator]();
        expect(await thrownBy(() => listing.next())).to.equal(reason);
      });

      it("refuses names that are not hashes with a TypeError", async () => {
        expect(await thrownBy(() => store.remove("../private"))).to.be.instanceOf(TypeError);
      });
    });

    describe("touch", () => {
      it("renews the time of the last use and nothing else", async () => {
        await store.put(name, { bytes: sound, length: { samples: 5, sampleRate: 8000 } });
        const before = await store.get(name);
        // S3 servers store whole seconds.
        for (
          let usedAt = before?.usedAt;
          usedAt === before?.usedAt;
          usedAt = (await store.get(name))?.usedAt
        ) {
          await delay(50);
          await store.touch(name);
        }
        const { bytes, length, usedAt } = (await store.get(name)) ?? { usedAt: 0 };
        expect(bytes && sound.equals(bytes)).to.equal(true);
        expect(length).to.deep.equal({ samples: 5, sampleRate: 8000 });
        expect(usedAt).to.be.above(before?.usedAt ?? 0);
      });

      it("of a missing object does nothing", async () => {
        await store.touch(name);
        expect(await store.get(name)).to.equal(undefined);
      });
    });

    describe("ping", () => {
      it("succeeds when the store is writable, and leaves nothing behind", async () => {
        await store.ping();
        await Promise.all([store.ping(), store.ping()]);
        await store.put(name, objectOf(sound));
        expect(sound.equals(await got(store, name))).to.equal(true);
      });
    });

    describe("close", () => {
      it("waits for pending puts", async () => {
        const written = store.put(name, objectOf(sound));
        await store.close();
        const other = await place.again();
        expect(sound.equals(await got(other, name))).to.equal(true);
        await written;
        await other.close();
      });
    });

    describe("a failing storage", () => {
      beforeEach(async () => {
        await store.put(name, objectOf(sound));
        await place.breakDown();
      });

      it("causes AudioStoreUnavailable with its cause in put and ping", async () => {
        for (const run of [
          () => store.put(names("public", "mp3", "new"), objectOf(sound)),
          () => store.ping(),
        ]) {
          const error = await thrownBy(run);
          expect(error).to.be.instanceOf(AudioStoreUnavailable);
          expect((error as Error).cause).to.be.instanceOf(Error);
        }
      });

      it("causes AudioStoreUnavailable in get, stat and read, never a missing object", async () => {
        for (const run of [
          () => store.get(name),
          () => store.stat(name),
          () => store.read(name, { start: 0, end: 1 }),
        ]) {
          expect(await thrownBy(run)).to.be.instanceOf(AudioStoreUnavailable);
        }
      });

      it("is reported without a path, an address or a credential in the message", async () => {
        const error = await thrownBy(() => store.ping());
        expect((error as Error).message).to.match(/^The audio store [^/@:]*(: [A-Z0-9_]+)?\.$/i);
      });
    });
  });
};

const got = async (store: AudioStore, name: AudioName): Promise<Buffer> => {
  const object = await store.get(name);
  expect(object?.bytes, "the object is there").to.be.instanceOf(Buffer);
  return object?.bytes as Buffer;
};

const thrownBy = async (run: () => Promise<unknown>): Promise<unknown> => {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
};
