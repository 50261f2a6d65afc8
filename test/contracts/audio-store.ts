import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import {
  type AudioStore,
  AudioStoreUnavailable,
  type ObjectName,
} from "../../src/audio/store/audio-store.ts";

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
const names = (prefix: "audio" | "private", ext: "mp3" | "ogg" | "wav", of: string): ObjectName =>
  `${prefix}/${createHash("sha256").update(of).digest("hex")}.${ext}`;

/** The rules of the port (src/audio/store/audio-store.ts), for every driver. */
export const audioStoreContract = (driver: string, setUp: () => Promise<AudioStoreSetup>): void => {
  describe(`the audio store: ${driver}`, () => {
    let place: AudioStoreSetup;
    let store: AudioStore;
    const name = names("audio", "mp3", "a sound");
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
        await store.put(name, sound);
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("returns the same object on every call", async () => {
        await store.put(name, sound);
        const answers = await Promise.all(Array.from({ length: 20 }, () => got(store, name)));
        for (const answer of answers) expect(sound.equals(answer)).to.equal(true);
      });

      it("does not expose changes that a caller makes to a returned buffer", async () => {
        await store.put(name, sound);
        (await got(store, name)).fill(0);
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("throws the signal's reason when it is already aborted", async () => {
        await store.put(name, sound);
        const reason = new Error("the caller left");
        expect(await thrownBy(() => store.get(name, AbortSignal.abort(reason)))).to.equal(reason);
      });

      it("throws the signal's reason when it is aborted midway, or returns the complete object", async () => {
        const big = randomBytes(8 * megabyte);
        await store.put(name, big);
        const controller = new AbortController();
        const reason = new Error("the caller left");
        const answer = store.get(name, controller.signal);
        controller.abort(reason);
        const outcome = await answer.catch((error: unknown) => error);
        if (outcome !== reason) expect(big.equals(outcome as Buffer)).to.equal(true);
        expect(big.equals(await got(store, name))).to.equal(true);
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
          await store.put(name, bytes);
          expect(bytes.equals(await got(store, name))).to.equal(true);
        });
      }

      it("stores any bytes, whatever format the name implies", async () => {
        for (const ext of ["mp3", "ogg", "wav"] as const) {
          const bytes = Buffer.from([0, 255, 13, 10, 0]);
          await store.put(names("audio", ext, "any"), bytes);
          expect(bytes.equals(await got(store, names("audio", ext, "any")))).to.equal(true);
        }
      });

      it("stores only the view when the bytes are part of a larger buffer", async () => {
        await store.put(name, sound.subarray(100, 200));
        expect(sound.subarray(100, 200).equals(await got(store, name))).to.equal(true);
      });

      it("rejects an empty object with a TypeError and stores nothing", async () => {
        expect(await thrownBy(() => store.put(name, Buffer.alloc(0)))).to.be.instanceOf(TypeError);
        expect(await store.get(name)).to.equal(undefined);
      });

      it("never overwrites an existing object", async () => {
        await store.put(name, sound);
        await store.put(name, randomBytes(20_000));
        await store.put(name, randomBytes(30_000));
        await store.put(name, randomBytes(10));
        expect(sound.equals(await got(store, name))).to.equal(true);
      });

      it("permanently stores exactly one complete object when many are put concurrently under one name", async () => {
        const rivals = Array.from({ length: 24 }, (_, i) => Buffer.alloc(50_000 + i, i + 1));
        const other = await place.again();
        await Promise.all(rivals.map((bytes, i) => (i % 2 ? store : other).put(name, bytes)));
        const kept = await got(store, name);
        expect(rivals.filter((bytes) => bytes.equals(kept))).to.have.length(1);
        await store.put(name, sound);
        expect(kept.equals(await got(other, name))).to.equal(true);
        await other.close();
      });

      it("never exposes part of an object during a put", async () => {
        const big = randomBytes(8 * megabyte);
        const written = store.put(name, big);
        let done = false;
        const finished = written.then(() => {
          done = true;
        });
        while (!done) {
          const seen = await store.get(name);
          if (seen) expect(big.equals(seen)).to.equal(true);
        }
        await finished;
      });

      it("keeps concurrently put objects separate", async () => {
        const objects = Array.from({ length: 100 }, (_, i) => ({
          name: names(i % 3 ? "audio" : "private", "ogg", `${i}`),
          bytes: randomBytes(1 + i * 37),
        }));
        await Promise.all(objects.map((object) => store.put(object.name, object.bytes)));
        for (const object of objects)
          expect(object.bytes.equals(await got(store, object.name))).to.equal(true);
      });

      it("makes the object visible to every other client before it resolves", async () => {
        await store.put(name, sound);
        const other = await place.again();
        expect(sound.equals(await got(other, name))).to.equal(true);
        await other.close();
      });
    });

    describe("names", () => {
      it("with another prefix or extension identify different objects, even with the same hash", async () => {
        const all = (["audio", "private"] as const).flatMap((prefix) =>
          (["mp3", "ogg", "wav"] as const).map((ext) => names(prefix, ext, "same")),
        );
        for (const [i, each] of all.entries()) await store.put(each, Buffer.from([i]));
        for (const [i, each] of all.entries()) expect([...(await got(store, each))]).to.deep.equal([i]);
      });

      const hash = "0".repeat(64);
      for (const [what, bad] of [
        ["nothing", ""],
        ["a hash without prefix and extension", hash],
        ["no extension", `audio/${hash}`],
        ["an unknown format", `audio/${hash}.flac`],
        ["a trailing newline", `audio/${hash}.mp3\n`],
        ["a short hash", `audio/${hash.slice(1)}.mp3`],
        ["capital digits", `audio/${hash.slice(1)}A.mp3`],
        ["another prefix", `other/${hash}.mp3`],
        ["a root", `/audio/${hash}.mp3`],
        ["a path to the other prefix", `audio/../private/${hash}.mp3`],
        ["a path to a parent directory", `audio/${"../".repeat(21)}x.mp3`],
        ["a path below an object", `audio/${hash}.mp3/..`],
        ["a NUL byte", `audio/${hash}.mp3\0`],
      ] as const) {
        it(`are rejected with a TypeError when invalid: ${what}`, async () => {
          expect(await thrownBy(() => store.put(bad, sound))).to.be.instanceOf(TypeError);
          expect(await thrownBy(() => store.get(bad))).to.be.instanceOf(TypeError);
        });
      }
    });

    describe("ping", () => {
      it("succeeds when the store is writable, and leaves nothing behind", async () => {
        await store.ping();
        await Promise.all([store.ping(), store.ping()]);
        await store.put(name, sound);
        expect(sound.equals(await got(store, name))).to.equal(true);
      });
    });

    describe("close", () => {
      it("waits for pending puts", async () => {
        const written = store.put(name, sound);
        await store.close();
        const other = await place.again();
        expect(sound.equals(await got(other, name))).to.equal(true);
        await written;
        await other.close();
      });
    });

    describe("a failing storage", () => {
      beforeEach(async () => {
        await store.put(name, sound);
        await place.breakDown();
      });

      it("causes AudioStoreUnavailable with its cause in put and ping", async () => {
        for (const run of [() => store.put(names("audio", "mp3", "new"), sound), () => store.ping()]) {
          const error = await thrownBy(run);
          expect(error).to.be.instanceOf(AudioStoreUnavailable);
          expect((error as Error).cause).to.be.instanceOf(Error);
        }
      });

      it("causes AudioStoreUnavailable in get, never a missing object", async () => {
        expect(await thrownBy(() => store.get(name))).to.be.instanceOf(AudioStoreUnavailable);
      });

      it("is reported without a path, an address or a credential in the message", async () => {
        const error = await thrownBy(() => store.ping());
        expect((error as Error).message).to.match(/^The audio store [^/@:]*(: [A-Z0-9_]+)?\.$/i);
      });
    });
  });
};

const got = async (store: AudioStore, name: ObjectName): Promise<Buffer> => {
  const bytes = await store.get(name);
  expect(bytes, "the object is there").to.be.instanceOf(Buffer);
  return bytes as Buffer;
};

const thrownBy = async (run: () => Promise<unknown>): Promise<unknown> => {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
};
