import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  type Deletions,
  formatListed,
  type ListedAudio,
  parseListed,
} from "../../../src/application/backup/audio-list.ts";
import { copyAudio, restoreAudio } from "../../../src/application/backup/copy-audio.ts";
import { BadBackup } from "../../../src/application/backup/manifest.ts";
import type { AudioStore } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/service.ts";

const { signal } = new AbortController();
const hashOf = (digit: string): string => digit.repeat(64);
const nameOf = (digit: string): string => `public/${hashOf(digit)}.mp3`;
const audio = (text: string) => ({ bytes: Buffer.from(text), length: { samples: 5, sampleRate: 22_050 } });

async function* yielding<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}

describe("audio of a backup", () => {
  const folder = duringTest(temporaryFolder);
  let [from, to]: AudioStore[] = [];
  let list: ListedAudio[];
  beforeEach(async () => {
    from = await openFilesystemAudioStore({ path: join(folder.path, "from") });
    to = await openFilesystemAudioStore({ path: join(folder.path, "to") });
    list = [];
    for (const digit of "abcdef") await from.put(nameOf(digit), audio(digit));
  });

  const none = { repaired: 0, gone: 0, damaged: [] };
  const copy = async ({ verifies = false, deletions = new Map() as Deletions, stop = signal } = {}) => {
    const previous = yielding(list);
    list = [];
    const add = async (entry: ListedAudio) => list.push(entry);
    const options = { signal: stop, previous, deletions, verifies, list: add };
    return await copyAudio(from as AudioStore, to as AudioStore, options);
  };
  const restore = async (deletions: Deletions = new Map()) => {
    const target = await openFilesystemAudioStore({ path: join(folder.path, "restored") });
    return await restoreAudio(to as AudioStore, target, { signal, list: yielding(list), deletions });
  };
  const pathOf = (store: string, digit: string): string =>
    join(folder.path, store, "public", digit.repeat(2), digit.repeat(2), `${hashOf(digit)}.mp3`);
  const damage = (store: string, digit = "a"): Promise<void> => writeFile(pathOf(store, digit), "damaged");
  /** Changes a byte and keeps the length, as a failing disk does. */
  const rot = async (digit: string): Promise<void> => {
    const file = await readFile(pathOf("to", digit));
    file.writeUInt8(file.readUInt8(0) ^ 1, 0);
    await writeFile(pathOf("to", digit), file);
  };
  const replace = async (digit: string): Promise<void> => {
    await rm(pathOf("to", digit));
    await to?.put(nameOf(digit), audio("x"));
  };

  it("is the same as that of the service, listed in order, and copied once", async () => {
    expect(await copy()).to.deep.equal({ objects: 6, bytes: 6, copied: 6, ...none });
    expect(list.map(({ name }) => name)).to.deep.equal([..."abcdef"].map(nameOf));
    const found = await to?.get(nameOf("c"));
    expect(found?.bytes.toString()).to.equal("c");
    expect(found?.length).to.deep.equal({ samples: 5, sampleRate: 22_050 });
    const before = list;
    expect(await copy()).to.deep.equal({ objects: 6, bytes: 6, copied: 0, ...none });
    expect(list).to.deep.equal(before);
  });

  it("lists the time of the last use to the millisecond", async () => {
    await copy();
    const [entry] = list as [ListedAudio];
    expect(parseListed(formatListed(entry).trimEnd())).to.deep.equal({
      ...entry,
      usedAt: Math.floor(entry.usedAt),
    });
  });

  it("is not read from a list with anything but names of audio", () => {
    for (const name of ["../../etc/passwd", `public/${hashOf("a")}.mp3/..`, "public/a.mp3", ""])
      expect(() => parseListed(`${hashOf("0")} 1 1 ${name}`)).to.throw(BadBackup);
  });

  it("leaves out damaged objects, and names them", async () => {
    await damage("from");
    expect(await copy())
      .to.include({ objects: 5, copied: 5 })
      .and.deep.include({ damaged: [nameOf("a")] });
    expect(await readdir(join(folder.path, "to/public"))).not.to.include("aa");
  });

  it("keeps the copy of an object that is damaged in the store", async () => {
    await copy();
    await damage("from");
    expect(await copy()).to.deep.equal({ objects: 6, bytes: 6, copied: 0, ...none });
  });

  it("replaces copies of another size", async () => {
    await copy();
    await damage("to");
    expect(await copy()).to.include({ copied: 1, repaired: 1 });
    expect((await to?.get(nameOf("a")))?.bytes.toString()).to.equal("a");
  });

  it("replaces copies with other bytes, if they are verified", async () => {
    await copy();
    await rot("b");
    await replace("c");
    expect(await copy()).to.include({ copied: 0, repaired: 0 });
    expect(await copy({ verifies: true })).to.include({ copied: 2 });
    for (const digit of "bc") expect((await to?.get(nameOf(digit)))?.bytes.toString()).to.equal(digit);
  });

  it("is compared with copies that no list names", async () => {
    await to?.put(nameOf("c"), audio("another voice"));
    await copy();
    expect((await to?.get(nameOf("c")))?.bytes.toString()).to.equal("c");
  });

  it("is copied again if it was deleted and made again", async () => {
    await copy();
    const deletions = new Map([[hashOf("a"), Math.ceil(Date.now()) + 1_000]]);
    await from?.remove(hashOf("a"));
    await from?.put(nameOf("a"), audio("z"));
    await copy({ deletions });
    expect((await to?.get(nameOf("a")))?.bytes.toString()).to.equal("z");
  });

  it("counts what is no longer in the store, and restores none of it", async () => {
    await copy();
    for (const digit of "af") await from?.remove(hashOf(digit));
    expect(await copy()).to.include({ objects: 4, gone: 2 });
    expect(await restore()).to.include({ objects: 4, restored: 4 });
  });

  it("is not copied any further after the signal", async () => {
    const controller = new AbortController();
    controller.abort(new Error("interrupted"));
    expect(await rejection(copy({ stop: controller.signal }))).to.have.property("message", "interrupted");
  });

  it("is restored as it was listed, and what is missing or damaged is named", async () => {
    await copy();
    await rm(pathOf("to", "b"));
    await rm(pathOf("to", "c"));
    await damage("to", "d");
    await rot("e");
    await replace("f");
    expect(await restore()).to.deep.equal({
      ...{ objects: 6, restored: 1, deleted: 0 },
      missing: ["b", "c"].map(nameOf),
      damaged: ["d", "e", "f"].map(nameOf),
    });
  });

  it("stays deleted, whatever the times of the copies are", async () => {
    await copy();
    await to?.touch(nameOf("a"));
    const deletions = new Map([[hashOf("a"), Math.floor(Math.max(...list.map(({ usedAt }) => usedAt)))]]);
    await rm(pathOf("to", "a"));
    await to?.put(nameOf("a"), audio("a"));
    expect(await restore(deletions)).to.include({ objects: 6, restored: 5, deleted: 1 });
  });
});
