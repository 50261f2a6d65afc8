import { cp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { readOnnxMetadata } from "../../../src/engines/models/onnx-metadata.ts";
import { openPacks } from "../../../src/engines/models/open-packs.ts";
import { readPack } from "../../../src/engines/models/pack.ts";
import { voicesOfPacks } from "../../../src/engines/models/voices.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { packNames, placePacks } from "../../support/models.ts";
import { rejection } from "../../support/rejection.ts";

describe("A pack of a model", () => {
  const packs = duringTest(() => placePacks("piper", "characters", "kokoro", "broken"));

  const messageOf = async (pack: keyof typeof packNames): Promise<string> =>
    ((await rejection(readPack(packs.path(pack)))) as Error).message;

  it("of Piper has a voice by its dataset and language", async () => {
    const { name, kind, speakers, isExact } = await readPack(packs.path("piper"));
    expect({ name, kind, isExact }).to.deep.equal({ name: packNames.piper, kind: "vits", isExact: true });
    expect(speakers).to.deep.equal([{ id: 0, name: "Tiny (en-US)", lang: "en-US", gender: "f" }]);
  });

  it("of Kokoro has voices by the names, languages and genders of its speakers", async () => {
    const { speakers, isExact } = await readPack(packs.path("kokoro"));
    expect(speakers).to.deep.equal([
      { id: 0, name: "Bella (en-US)", lang: "en-US", gender: "f" },
      { id: 1, name: "George (en-GB)", lang: "en-GB", gender: "m" },
    ]);
    expect(isExact).to.equal(false);
  });

  it("is described by its folder's name where nothing else names the language", async () => {
    const { speakers } = await readPack(packs.path("characters"));
    expect(speakers.map(({ name }) => name)).to.deep.equal([
      "Vits-tiny-de DE 0 (de-DE)",
      "Vits-tiny-de DE 1 (de-DE)",
    ]);
  });

  it("may be described by its operator", async () => {
    const own = { name: "Anna", lang: "de-AT", gender: "m", speakers: [{ id: 1, name: "Otto" }] };
    await writeFile(join(packs.path("characters"), "voxledger.json"), JSON.stringify(own));
    const { speakers } = await readPack(packs.path("characters"));
    expect(speakers).to.deep.equal([{ id: 1, name: "Otto (de-AT)", lang: "de-AT", gender: "m" }]);
  });

  it("is refused with its reason", async () => {
    expect(await messageOf("broken")).to.equal("The model lacks metadata: sample_rate.");
    await writeFile(join(packs.path("characters"), "voxledger.json"), '{"speakers":[{"id":2}]}');
    expect(await messageOf("characters")).to.equal("The model has 2 speakers: there is no speaker 2.");
    await writeFile(join(packs.path("characters"), "voxledger.json"), "{");
    expect(await messageOf("characters")).to.match(/^voxledger\.json: /);
    await rm(join(packs.path("kokoro"), "voices.bin"));
    expect(await messageOf("kokoro")).to.equal("The folder has no voices.bin.");
    await rm(join(packs.path("piper"), "espeak-ng-data"));
    expect(await messageOf("piper")).to.equal("The folder has no espeak-ng-data.");
    await writeFile(join(packs.path("piper"), "en_US-tiny-low.onnx"), "no model");
    expect(await messageOf("piper")).to.equal("The file is not an ONNX model.");
    const withoutMetadata = Buffer.from([0x08, 0x08]); // ir_version: 8
    await writeFile(join(packs.path("piper"), "en_US-tiny-low.onnx"), withoutMetadata);
    expect(await messageOf("piper")).to.match(/^The model has no metadata for sherpa-onnx: /);
    await rm(join(packs.path("piper"), "en_US-tiny-low.onnx"));
    expect(await messageOf("piper")).to.equal("The folder has no .onnx file.");
  });

  it("has a digest of its files, wherever they lie", async () => {
    const { digest } = await readPack(packs.path("characters"));
    const elsewhere = join(packs.folder, "copies", packNames.characters);
    await cp(packs.path("characters"), elsewhere, { recursive: true });
    expect((await readPack(elsewhere)).digest).to.equal(digest);
    await writeFile(join(elsewhere, "tokens.txt"), `${await readFile(join(elsewhere, "tokens.txt"))}ß 37\n`);
    expect((await readPack(elsewhere)).digest).to.not.equal(digest);
  });

  it("of Kokoro pronounces English words as Americans do, where it has lexicons for both", async () => {
    for (const name of ["gb-en", "us-en", "zh"]) {
      await writeFile(join(packs.path("kokoro"), `lexicon-${name}.txt`), "hello h ə l\n");
    }
    const { model } = (await readPack(packs.path("kokoro"))).config as {
      model: { kokoro: { lexicon: string } };
    };
    expect(model.kokoro.lexicon.split(",").map((path) => basename(path))).to.deep.equal([
      "lexicon-us-en.txt",
      "lexicon-zh.txt",
      "lexicon-gb-en.txt",
    ]);
  });

  it("has metadata that are read without its weights", async () => {
    const metadata = await readOnnxMetadata(join(packs.path("kokoro"), "model.onnx"));
    expect(metadata).to.include({
      model_type: "kokoro",
      n_speakers: "2",
      speaker_names: "af_bella,bm_george",
    });
  });
});

describe("The packs of an installation", () => {
  const packs = duringSuite(() => placePacks("piper", "characters", "broken"));

  it("are all folders of MODELS_DIR, and those that an engine names; unusable ones are listed", async () => {
    const paths = { g2: [packs.path("piper"), join(packs.folder, "none")] };
    const opened = await openPacks({ paths, folder: packs.folder });
    const names = [...opened.packs].map(([engine, list]) => [engine, list.map(({ name }) => name)]);
    expect(Object.fromEntries(names)).to.deep.equal({
      g1: [packNames.piper, packNames.characters],
      g2: [packNames.piper],
    });
    expect(opened.failures.map(({ name }) => name).sort()).to.deep.equal([packNames.broken, "none"]);
    expect(JSON.stringify(opened.failures)).to.not.include(packs.folder);
  });

  it("are used once where an engine and MODELS_DIR name the same folder", async () => {
    const opened = await openPacks({ paths: { g1: [packs.path("piper")] }, folder: packs.folder });
    expect(opened.packs.get("g1")?.map(({ name }) => name)).to.deep.equal([
      packNames.piper,
      packNames.characters,
    ]);
    expect(opened.failures.map(({ name }) => name)).to.deep.equal([packNames.broken]);
  });

  it("have names that are unique among all engines, because a model's process is found by its name", async () => {
    const other = join(packs.folder, "..", `${basename(packs.folder)}-other`, packNames.piper);
    await cp(packs.path("characters"), other, { recursive: true });
    try {
      const opened = await openPacks({ paths: { g1: [packs.path("piper")], g2: [other] } });
      expect([...opened.packs.keys()]).to.deep.equal(["g1"]);
      expect(opened.failures).to.deep.equal([
        { name: packNames.piper, message: "Another folder of a model has this name: rename one of them." },
      ]);
    } finally {
      await rm(dirname(other), { recursive: true });
    }
  });

  it("have voices with ids that do not depend on other packs, and names that are unique within an engine", async () => {
    const all = voicesOfPacks((await openPacks({ paths: {}, folder: packs.folder })).packs);
    const one = voicesOfPacks((await openPacks({ paths: { g1: [packs.path("characters")] } })).packs);
    const german = all.filter(({ lang }) => lang === "de-DE");
    expect(one).to.deep.equal(german);
    expect(Math.min(...all.map(({ id }) => id))).to.be.at.least(5_000_000);

    const copy = join(packs.folder, "en_US-tiny-high");
    await cp(packs.path("piper"), copy, { recursive: true });
    await rename(join(copy, "en_US-tiny-low.onnx.json"), join(copy, "x.json"));
    const twice = voicesOfPacks((await openPacks({ paths: { g1: [packs.path("piper"), copy] } })).packs);
    expect(twice.map(({ name }) => name)).to.deep.equal(["Tiny (en-US)", "en_US-tiny-high"]);
  });
});
