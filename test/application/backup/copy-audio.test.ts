import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { copyAudio } from "../../../src/application/backup/copy-audio.ts";
import type { AudioStore } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { duringTest } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

const { signal } = new AbortController();
const nameOf = (digit: string): string => `public/${digit.repeat(64)}.mp3`;
const audio = (text: string) => ({ bytes: Buffer.from(text), length: { samples: 5, sampleRate: 22_050 } });

describe("audio that is copied from one store to another", () => {
  const folder = duringTest(temporaryFolder);
  let [from, to]: AudioStore[] = [];
  beforeEach(async () => {
    from = await openFilesystemAudioStore({ path: join(folder.path, "from") });
    to = await openFilesystemAudioStore({ path: join(folder.path, "to") });
    for (const digit of "abcdef") await from.put(nameOf(digit), audio(digit));
  });

  const copy = (isExcluded?: (files: { hash: string }) => boolean) =>
    copyAudio(from as AudioStore, to as AudioStore, { signal, ...(isExcluded && { isExcluded }) });
  const damage = (store: string): Promise<void> =>
    writeFile(join(folder.path, store, "public/aa/aa", `${"a".repeat(64)}.mp3`), "damaged");

  it("is the same, and copied once", async () => {
    const bytes = 6 * 33;
    expect(await copy()).to.deep.equal({ objects: 6, bytes, copied: 6, damaged: 0, excluded: 0 });
    const found = await to?.get(nameOf("c"));
    expect(found?.bytes.toString()).to.equal("c");
    expect(found?.length).to.deep.equal({ samples: 5, sampleRate: 22_050 });
    expect(await copy()).to.deep.equal({ objects: 6, bytes, copied: 0, damaged: 0, excluded: 0 });
  });

  it("leaves out damaged objects, and reports them", async () => {
    await damage("from");
    expect(await copy()).to.include({ objects: 6, copied: 5, damaged: 1 });
    expect(await readdir(join(folder.path, "to/public"))).not.to.include("aa");
  });

  it("replaces damaged copies", async () => {
    await copy();
    await damage("to");
    expect(await copy()).to.include({ copied: 1, damaged: 0 });
    expect((await to?.get(nameOf("a")))?.bytes.toString()).to.equal("a");
  });

  it("leaves out what is excluded", async () => {
    expect(await copy(({ hash }) => hash.startsWith("b"))).to.include({
      ...{ objects: 5, copied: 5, excluded: 1 },
    });
    expect(await to?.get(nameOf("b"))).to.equal(undefined);
  });
});
