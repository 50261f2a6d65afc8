import { expect } from "chai";
import { type AudioReports, createAudioReports } from "../../../src/application/audio/audio-reports.ts";
import { createCountServings } from "../../../src/application/audio/audio-servings.ts";
import { CdnUnavailable } from "../../../src/audio/cdn-purge.ts";
import {
  type AudioStore,
  AudioStoreUnavailable,
  DamagedAudio,
} from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { Invalid, NotFound, Unavailable } from "../../../src/domain/errors.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { synthesesServed } from "../../support/build-journal-events.ts";
import { duringSuite } from "../../support/during.ts";
import { append } from "../../support/logged-events.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

const often = "a".repeat(64);
const once = "b".repeat(64);
const november = { from: "2026-11-01", to: "2026-12-01" };

describe("audio", () => {
  const temporary = duringSuite(openTemporaryStore);
  const audioStore = duringSuite(() => openFilesystemAudioStore({ path: `${temporary.folder}/audio` }));
  let sounds: AudioReports;
  const { signal } = new AbortController();

  before(async () => {
    sounds = soundsIn(audioStore);
    const stream = journalStream("j1");
    const serve = (at: string, hash: string, cached: "miss" | "memory" | "store") => ({
      stream,
      ...synthesesServed(at, [{ apiKey: "k1", characters: 10, hash, cached }]),
    });
    await append(temporary.store, [
      serve("2026-10-31T23:59:59.000Z", often, "miss"),
      serve("2026-11-02T00:00:00.000Z", often, "memory"),
      serve("2026-11-03T00:00:00.000Z", once, "miss"),
      serve("2026-11-04T00:00:00.000Z", often, "store"),
      serve("2026-12-01T00:00:00.000Z", once, "memory"),
    ]);
    await audioStore.put(`public/${often}.mp3`, {
      bytes: Buffer.alloc(300),
      length: { samples: 48_000, sampleRate: 24_000 },
    });
    await audioStore.put(`public/${often}.marks.json`, {
      bytes: Buffer.from("{}\n"),
      length: { samples: 1, sampleRate: 1 },
    });
  });

  const soundsIn = (store: Pick<AudioStore, "stat">, purge?: (hash: string) => Promise<void>): AudioReports =>
    createAudioReports({
      audioStore: store,
      countServings: createCountServings({
        store: temporary.store,
        queue: createReportQueue({ time: createManualTime() }),
        clock: () => Date.parse("2026-12-02"),
      }),
      purge,
    });

  it("are listed by how often they were served in the period, with their sources and stored bytes", async () => {
    const list = await sounds.list({ ...november, limit: 10, signal });
    expect(list).to.include({ served: 3, fromCache: 2, distinct: 2, isComplete: true });
    expect(list.sounds.map(({ hash, served, bytes }) => ({ hash, served, bytes }))).to.deep.equal([
      { hash: often, served: 2, bytes: 300 },
      { hash: once, served: 1, bytes: undefined },
    ]);
    expect(list.sounds[0]?.from).to.deep.equal({ miss: 0, coalesced: 0, memory: 1, store: 1 });
    expect(list.sounds[0]).to.include({
      firstAt: "2026-11-02T00:00:00.000Z",
      lastAt: "2026-11-04T00:00:00.000Z",
    });
    expect((await sounds.list({ ...november, limit: 1, signal })).sounds).to.have.length(1);
  });

  it("have their objects in the store, with size and duration, and their servings", async () => {
    const { objects, servings } = await sounds.find(often, { ...november, signal });
    expect(servings).to.include({ served: 2, characters: 20, format: "mp3" });
    expect(objects.map(({ usedAt, ...object }) => ({ ...object, isUsed: usedAt > "2020" }))).to.deep.equal([
      {
        name: `public/${often}.mp3`,
        bytes: 300,
        seconds: 2,
        public: true,
        path: `/audio/${often}.mp3`,
        isMarks: false,
        isUsed: true,
      },
      {
        name: `public/${often}.marks.json`,
        bytes: 3,
        public: true,
        path: `/audio/${often}.marks.json`,
        isMarks: true,
        isUsed: true,
      },
    ]);
  });

  it("are found without servings and objects, but only by a hash", async () => {
    expect(await sounds.find("c".repeat(64), { ...november, signal })).to.deep.include({ objects: [] });
    expect(await rejection(sounds.find("../etc", { ...november, signal }))).to.be.instanceOf(NotFound);
  });

  it("treat a damaged object as missing, and report a store that cannot be read", async () => {
    const failing = (error: Error) => soundsIn({ stat: () => Promise.reject(error) });
    expect((await failing(new DamagedAudio()).find(often, { ...november, signal })).objects).to.deep.equal(
      [],
    );
    const unreadable = failing(new AudioStoreUnavailable("down")).find(often, { ...november, signal });
    expect(await rejection(unreadable)).to.be.instanceOf(Unavailable);
  });

  it("are purged from the CDN, if one is configured", async () => {
    const purged: string[] = [];
    const purging = soundsIn(audioStore, async (hash) => void purged.push(hash));
    expect(await purging.purge(often)).to.deep.equal({ hash: often, purged: true });
    expect(purged).to.deep.equal([often]);
    expect(await sounds.purge(often)).to.deep.equal({ hash: often, purged: false });
    expect(await rejection(sounds.purge("x"))).to.be.instanceOf(NotFound);
    const refused = soundsIn(audioStore, () => Promise.reject(new CdnUnavailable("refused")));
    expect(await rejection(refused.purge(often))).to.be.instanceOf(Unavailable);
  });

  it("are counted for at most 31 days", async () => {
    const request = { from: "2026-10-01", to: "2026-12-01", limit: 1, signal };
    expect(await rejection(sounds.list(request))).to.be.instanceOf(Invalid);
  });

  it("are counted once at a time, and not at all when four counts are waiting", async () => {
    const counts = Array.from({ length: 8 }, () => sounds.list({ ...november, limit: 1, signal }));
    const results = await Promise.allSettled(counts);
    const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(reasons).to.have.length(3);
    for (const reason of reasons) expect(reason).to.be.instanceOf(Unavailable);
  });
});
