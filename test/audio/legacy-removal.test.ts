import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { CdnUnavailable } from "../../src/audio/cdn-purge.ts";
import {
  type LegacyRemovalOptions,
  removeLegacyAudio,
  scheduleLegacyRemoval,
} from "../../src/audio/legacy/legacy-removal.ts";
import { quiet } from "../../src/audio/pipeline/log.ts";
import type { AudioName, AudioStore } from "../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { createManualTime } from "../support/manual-time.ts";
import { until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { nameOf, objectOf } from "./pipeline/sounds.ts";

const never = new AbortController().signal;
const hour = 60 * 60_000;
const legacyName = (index: number): AudioName => nameOf(index).replace("public/", "audio/");
const hashOf = (name: AudioName): string => name.slice("audio/".length, -".mp3".length);

describe("Deleting public audio of earlier versions", () => {
  let path: string;
  let store: AudioStore;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "voxledger-legacy-"));
    store = await openFilesystemAudioStore({ path });
  });
  afterEach(async () => {
    await store.close();
    await rm(path, { recursive: true });
  });

  const put = (name: AudioName) => store.put(name, objectOf(Buffer.from("a sound")));
  const isStored = async (name: AudioName): Promise<boolean> => (await store.get(name)) !== undefined;
  const optionsWith = (more: Partial<LegacyRemovalOptions> = {}): LegacyRemovalOptions => ({
    ...{ store, purge: undefined, forget: () => {}, until: 0, log: quiet },
    ...{ clock: () => 0, requireMeasuredClock: async () => {}, ...more },
  });

  it("removes audio with its marks from memory, CDN and store, and no others", async () => {
    const kept = [nameOf(1), nameOf(2).replace("public/", "private/")];
    const marks = legacyName(3).replace(".mp3", ".marks.json");
    for (const name of [...kept, legacyName(3), marks, legacyName(4)]) await put(name);
    const [purged, forgotten]: [string[], string[]] = [[], []];
    const purge = async (hash: string) => void purged.push(hash);
    const removed = await removeLegacyAudio(
      optionsWith({ purge, forget: (hash) => forgotten.push(hash) }),
      never,
    );
    expect(removed).to.equal(2);
    expect(await Promise.all([...kept, legacyName(3), marks, legacyName(4)].map(isStored))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
    const hashes = [3, 4].map((index) => hashOf(legacyName(index))).sort();
    expect([purged.sort(), forgotten.sort()]).to.deep.equal([hashes, hashes]);
  });

  it("keeps audio in the store that the CDN did not forget, for the next run", async () => {
    for (const index of [1, 2]) await put(legacyName(index));
    let isDown = true;
    const purge = async (hash: string): Promise<void> => {
      if (isDown && hash === hashOf(legacyName(1))) throw new CdnUnavailable("A cache could not be reached.");
    };
    expect(await rejection(removeLegacyAudio(optionsWith({ purge }), never))).to.be.instanceOf(
      CdnUnavailable,
    );
    expect(await isStored(legacyName(1))).to.equal(true);
    isDown = false;
    await removeLegacyAudio(optionsWith({ purge }), never);
    expect(await isStored(legacyName(1))).to.equal(false);
  });

  it("continues after a run that was interrupted", async () => {
    const names = Array.from({ length: 20 }, (_, index) => legacyName(index));
    for (const name of names) await put(name);
    const stop = new AbortController();
    const purge = async (): Promise<void> => stop.abort(new Error("killed"));
    await rejection(removeLegacyAudio(optionsWith({ purge }), stop.signal));
    const left = (await Promise.all(names.map(isStored))).filter(Boolean).length;
    expect(left).to.be.within(1, 19);
    expect(await removeLegacyAudio(optionsWith(), never)).to.equal(left);
  });

  it("is repeated daily until nothing was left a day after the start: an earlier version may still store more", async () => {
    const time = createManualTime();
    let runs = 0;
    const requireMeasuredClock = async (): Promise<void> => void runs++;
    const stop = scheduleLegacyRemoval({
      ...optionsWith({ until: 1, clock: () => 1, requireMeasuredClock }),
      time,
    });
    const nextRun = async (expected: number, waiting: number): Promise<void> => {
      await until("it has run", () => runs === expected && time.waiting() === waiting);
    };
    time.advance(0);
    await nextRun(1, 1);
    await put(legacyName(1));
    time.advance(24 * hour);
    await nextRun(2, 1);
    expect(await isStored(legacyName(1))).to.equal(false);
    time.advance(24 * hour);
    await nextRun(3, 0);
    await stop();
  });

  it("waits for the time until which addresses are kept", async () => {
    const time = createManualTime();
    await put(legacyName(1));
    let now = 0;
    const stop = scheduleLegacyRemoval({
      ...optionsWith({ until: 40 * hour, clock: () => now }),
      time,
    });
    for (const [pause, isKept] of [
      [0, true],
      [24 * hour, true],
      [16 * hour, false],
    ] as const) {
      now += pause;
      time.advance(pause);
      await until("the next run is planned", () => time.waiting() === 1);
      expect(await isStored(legacyName(1)), `after ${now / hour} h`).to.equal(isKept);
    }
    await stop();
  });

  it("is tried again an hour after a failure", async () => {
    const time = createManualTime();
    await put(legacyName(1));
    let failures = 1;
    const purge = async (): Promise<void> => {
      if (failures-- > 0) throw new CdnUnavailable("A cache could not be reached.");
    };
    const stop = scheduleLegacyRemoval({ ...optionsWith({ purge }), time });
    for (const [pause, isKept] of [
      [0, true],
      [hour, false],
    ] as const) {
      time.advance(pause);
      await until("the next run is planned", () => time.waiting() === 1);
      expect(await isStored(legacyName(1))).to.equal(isKept);
    }
    await stop();
  });
});
