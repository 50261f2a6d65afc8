import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { quiet } from "../../src/audio/pipeline/log.ts";
import { createMemoryCache } from "../../src/audio/pipeline/memory-cache.ts";
import {
  createRetention,
  type RetentionOptions,
  type RetentionPolicy,
  useIntervalMs,
} from "../../src/audio/retention/retention.ts";
import { scheduleRetention } from "../../src/audio/retention/retention-schedule.ts";
import { type AudioName, type AudioStore, hashInName } from "../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { createManualTime, until } from "../support/manual-time.ts";
import { rejection } from "../support/rejection.ts";
import { nameOf, objectOf } from "./pipeline/sounds.ts";

const never = new AbortController().signal;
const hour = 60 * 60_000;
const day = 24 * hour;
const kilobyte = 1024;

describe("Retention of audio", () => {
  let path: string;
  let store: AudioStore;
  const now = Date.now() + 400 * day;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-retention-"));
    store = await openFilesystemAudioStore({ path });
  });
  afterEach(async () => {
    await store.close();
    await rm(path, { recursive: true });
  });

  const fileOf = (name: AudioName): string => {
    const [prefix = "", file = ""] = name.split("/");
    return join(path, prefix, file.slice(0, 2), file.slice(2, 4), file);
  };
  const setTime = (file: string, ms: number): Promise<void> => utimes(file, new Date(ms), new Date(ms));
  /** Stores an object of one kilobyte, footer included, that was last used at this time. */
  const stored = async (index: number, usedAt: number, name = nameOf(index)): Promise<AudioName> => {
    await store.put(name, objectOf(randomBytes(kilobyte - 32)));
    await setTime(fileOf(name), usedAt);
    return name;
  };
  const kept = async (names: readonly AudioName[]): Promise<number[]> => {
    const found = await Promise.all(names.map((name) => store.get(name)));
    return found.flatMap((object, index) => (object ? [index] : []));
  };
  const options = {
    isInUse: () => false,
    log: quiet,
    clock: () => now,
    requireMeasuredClock: async () => {},
  };
  const retentionWith = (policy: RetentionPolicy, more: Partial<RetentionOptions> = {}) =>
    createRetention({ ...options, store, policy, ...more });

  it("removes audio that was not used for longer than the age, and counts and logs it", async () => {
    const ages = [0, 89 * day, 90 * day + hour, 300 * day];
    const names = await Promise.all(ages.map((age, index) => stored(index, now - age)));
    const logged: object[] = [];
    const log = { ...quiet, info: (facts: object) => void logged.push(facts) };
    const retention = retentionWith({ maxAgeMs: 90 * day }, { log });
    await retention.runOnce(never);
    expect(await kept(names)).to.deep.equal([0, 1]);
    expect(logged).to.deep.equal([{ objects: 2, bytes: 2 * kilobyte }]);
    expect(retention.stats()).to.deep.equal({
      removedObjects: 2,
      removedBytes: 2 * kilobyte,
      keptBytes: 2 * kilobyte,
    });
  });

  it("measures the audio that it keeps, also without a rule", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => stored(index, now - index * day)));
    const all = retentionWith({});
    expect(all.stats().keptBytes).to.equal(undefined);
    await all.measure(never);
    expect(all.stats()).to.include({ removedObjects: 0, keptBytes: 20 * kilobyte });
    await all.runOnce(never);
    expect(all.stats()).to.include({ removedObjects: 0, keptBytes: 20 * kilobyte });
    const some = retentionWith({ maxBytes: 7.5 * kilobyte });
    await some.runOnce(never);
    expect(some.stats()).to.include({ removedObjects: 13, keptBytes: 7 * kilobyte });
  });

  it("removes nothing when it only measures", async () => {
    const names = [await stored(0, now - 300 * day)];
    const retention = retentionWith({ maxAgeMs: day, maxBytes: 1 });
    await retention.measure(never);
    expect(await kept(names)).to.deep.equal([0]);
    expect(retention.stats()).to.include({ removedObjects: 0, keptBytes: kilobyte });
  });

  it("removes nothing while the clock is wrong", async () => {
    const name = await stored(1, now - 300 * day);
    const wrong = new Error("The clock is wrong.");
    const requireMeasuredClock = async () => {
      throw wrong;
    };
    const retention = retentionWith({ maxAgeMs: 90 * day }, { requireMeasuredClock });
    expect(await rejection(retention.runOnce(never))).to.equal(wrong);
    expect(await kept([name])).to.deep.equal([0]);
  });

  it("removes the least recently used audio beyond the size, and not one more", async () => {
    const names = await Promise.all(
      Array.from({ length: 20 }, (_, index) => stored(index, now - index * day - 2 * hour)),
    );
    await retentionWith({ maxBytes: 7.5 * kilobyte }).runOnce(never);
    expect(await kept(names)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
  });

  it("fills the size even if all audio was used in the same hour, as after a migration", async () => {
    const names = await Promise.all(Array.from({ length: 20 }, (_, index) => stored(index, now - 50 * hour)));
    await retentionWith({ maxBytes: 7 * kilobyte }).runOnce(never);
    expect(await kept(names)).to.have.length(7);
  });

  it("removes the same audio when several instances run at once", async () => {
    const names = await Promise.all(
      Array.from({ length: 60 }, (_, index) => stored(index, now - (index % 4) * day - 2 * hour)),
    );
    const instances = [1, 2, 3].map(() => retentionWith({ maxBytes: 20 * kilobyte }));
    await Promise.all(instances.map((retention) => retention.runOnce(never)));
    expect(await kept(names)).to.have.length(20);
    const removed = instances.reduce((sum, retention) => sum + retention.stats().removedObjects, 0);
    expect(removed, "each is counted once").to.equal(40);
    expect(await readdir(join(path, "incoming"))).to.deep.equal([]);
  });

  it("never removes what was used within the last hour, or what this process is making or writing", async () => {
    const names = [
      await stored(0, now - hour / 2),
      await stored(1, now - 9 * day),
      await stored(2, now - 9 * day),
    ];
    const isInUse = (name: string) => name === names[1];
    await retentionWith({ maxAgeMs: day / 100, maxBytes: 1 }, { isInUse }).runOnce(never);
    expect(await kept(names)).to.deep.equal([0, 1]);
  });

  it("keeps audio that is used between the listing and its removal", async () => {
    const name = await stored(0, now - 100 * day);
    const retention = createRetention({
      store: {
        ...store,
        remove: async (hash, condition) => {
          await setTime(fileOf(name), now - 1000);
          return store.remove(hash, condition);
        },
      },
      policy: { maxAgeMs: day },
      ...options,
    });
    await retention.runOnce(never);
    expect(await kept([name])).to.deep.equal([0]);
    expect(retention.stats().removedObjects).to.equal(0);
  });

  it("treats audio and what belongs to it as one, used when either was", async () => {
    const [mp3, wav] = [nameOf(1), nameOf(1).replace("mp3", "wav")];
    await stored(0, now - 100 * day, mp3);
    await stored(0, now - 5 * hour, wav);
    await retentionWith({ maxAgeMs: day }).runOnce(never);
    expect(await kept([mp3, wav])).to.deep.equal([0, 1]);
    await setTime(fileOf(wav), now - 99 * day);
    await retentionWith({ maxAgeMs: day }).runOnce(never);
    expect(await kept([mp3, wav])).to.deep.equal([]);
  });

  it("stores the same object again after its removal", async () => {
    const name = await stored(0, now - 100 * day);
    await retentionWith({ maxAgeMs: day }).runOnce(never);
    await stored(0, now);
    expect(await kept([name])).to.deep.equal([0]);
  });

  it("ends at once when it is aborted", async () => {
    await stored(0, now - 100 * day);
    const stop = new AbortController();
    stop.abort(new Error("shutdown"));
    const failure = await retentionWith({ maxAgeMs: day })
      .runOnce(stop.signal)
      .catch((error: Error) => error.message);
    expect(failure).to.equal("shutdown");
    expect(await kept([nameOf(0)])).to.deep.equal([0]);
  });

  it("keeps a sum per hour in memory, not the names of the objects", async () => {
    let listed = 0;
    const many: Pick<AudioStore, "list" | "remove"> = {
      remove: async () => [],
      list: async function* () {
        for (let index = 0; index < 300_000; index++) {
          listed++;
          const hash = createHash("sha256").update(String(index)).digest("hex");
          yield {
            hash,
            names: [`public/${hash}.mp3`],
            bytes: 1,
            usedAt: now - 2 * hour - (index % 24) * hour,
          };
        }
      },
    };
    const before = process.memoryUsage().heapUsed;
    await retentionWith({ maxBytes: 299_000 }, { store: many }).runOnce(never);
    expect(listed, "twice, because the size is exceeded").to.equal(600_000);
    globalThis.gc?.();
    expect((process.memoryUsage().heapUsed - before) / 1024 ** 2).to.be.below(100);
  });

  it("runs about once in the interval until it is stopped, also after a failure", async () => {
    const time = createManualTime();
    let runs = 0;
    const runOnce = async () => {
      runs++;
      throw new Error("the store is down");
    };
    const stop = scheduleRetention({
      retention: { runOnce, measure: runOnce },
      intervalMs: hour,
      isMeasuredFirst: false,
      time,
      random: () => 0.5,
      log: quiet,
    });
    for (let expected = 1; expected <= 3; expected++) {
      time.advance(hour);
      await until(() => runs === expected && time.waiting() === 1);
    }
    await stop();
    expect(time.waiting()).to.equal(0);
  });
});

describe("A store that is measured first", () => {
  it("is measured within five minutes of the start, and cleaned later", async () => {
    const time = createManualTime();
    const runs: string[] = [];
    const stop = scheduleRetention({
      retention: {
        measure: async () => void runs.push("measured"),
        runOnce: async () => void runs.push("cleaned"),
      },
      intervalMs: 24 * hour,
      isMeasuredFirst: true,
      time,
      random: () => 1,
      log: quiet,
    });
    time.advance(5 * 60_000);
    await until(() => runs.length === 1 && time.waiting() === 1);
    time.advance(24 * hour);
    await until(() => runs.length === 2 && time.waiting() === 1);
    await stop();
    expect(runs).to.deep.equal(["measured", "cleaned"]);
  });
});

describe("The time of an object's last use", () => {
  it("is reported once per interval, whether the object is read from memory or from the store", () => {
    const reports: AudioName[] = [];
    let now = 0;
    const uses = { intervalMs: 100, report: (name: AudioName) => reports.push(name), clock: () => now };
    const cache = createMemoryCache({ uses });
    cache.set(nameOf(1), objectOf(randomBytes(100)));
    for (now = 0; now < 100; now++) cache.get(nameOf(1));
    expect(reports).to.deep.equal([]);
    for (now = 100; now < 300; now++) cache.get(nameOf(1));
    expect(reports).to.deep.equal([nameOf(1), nameOf(1)]);
    cache.set(nameOf(2), objectOf(randomBytes(100)), now - 99);
    expect(reports).to.have.length(2);
    cache.set(nameOf(3), objectOf(randomBytes(100)), now - 100);
    expect(reports[2]).to.equal(nameOf(3));
  });

  it("is at most a day old, and a quarter of a short age", () => {
    expect(useIntervalMs({ maxAgeMs: 90 * day })).to.equal(day);
    expect(useIntervalMs({ maxBytes: 1 })).to.equal(day);
    expect(useIntervalMs({ maxAgeMs: 12 * hour })).to.equal(3 * hour);
  });

  it("is the file's modification time, which a touch renews", async () => {
    const path = await mkdtemp(join(tmpdir(), "voxledger-touch-"));
    try {
      const store = await openFilesystemAudioStore({ path });
      await store.put(nameOf(1), objectOf(randomBytes(100)));
      const hash = hashInName(nameOf(1)) ?? "";
      const file = join(path, "public", hash.slice(0, 2), hash.slice(2, 4), `${hash}.mp3`);
      await utimes(file, 1000, 1000);
      expect((await store.get(nameOf(1)))?.usedAt).to.equal(1_000_000);
      await store.touch(nameOf(1));
      expect((await store.get(nameOf(1)))?.usedAt).to.equal((await stat(file)).mtimeMs);
      expect((await stat(file)).mtimeMs).to.be.above(1_000_000);
    } finally {
      await rm(path, { recursive: true });
    }
  });
});
