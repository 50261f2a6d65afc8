import { readFile } from "node:fs/promises";
import { expect } from "chai";
import {
  audioExtensions,
  audioFormats,
  type FormatTraits,
  formats,
  mimeTypeOf,
} from "../../../src/domain/synthesis/formats.ts";
import { audioName, isAudioName } from "../../../src/domain/synthesis/recipe.ts";
import { engines } from "../../../src/domain/synthesis/speech.ts";

const hash = "0".repeat(64);

describe("The table of output formats", () => {
  it("has one MIME type for each extension, and one extension for each MIME type", () => {
    const pairs = new Set(audioFormats.map((one) => `${formats[one].extension} ${formats[one].mimeType}`));
    expect(pairs.size).to.equal(audioExtensions.length);
    expect(new Set(audioExtensions.map((one) => mimeTypeOf(`x.${one}`))).size).to.equal(pairs.size);
  });

  it("has the sample rate and bit rate that a format's name contains", () => {
    for (const format of audioFormats) {
      const [, rate, kilobits] = /^[a-z0-9]+_(\d+)(?:_(\d+))?$/.exec(format) ?? [];
      const traits: FormatTraits = formats[format];
      if (rate) expect(traits.sampleRate, format).to.equal(Number(rate));
      if (kilobits) expect(traits.encoder?.options, format).to.include(`-b:a ${kilobits}k`);
    }
  });

  for (const format of audioFormats) {
    it(`gives ${format} objects names that are accepted and lead back to its MIME type`, () => {
      for (const websiteId of [undefined, "a"]) {
        const name = audioName({ format, ...(websiteId !== undefined && { websiteId }) }, hash);
        expect(isAudioName(name)).to.equal(true);
        expect(mimeTypeOf(name)).to.equal(formats[format].mimeType);
      }
    });
  }

  it("refuses object names with another extension", () => {
    expect(isAudioName(`public/${hash}.txt`)).to.equal(false);
    expect(() => mimeTypeOf(`public/${hash}.txt`)).to.throw(TypeError);
  });

  it("covers the formats of all engines", () => {
    for (const { formats: offered, defaultFormat } of Object.values(engines)) {
      expect(audioFormats).to.include.members([...offered]);
      expect(offered).to.include(defaultFormat);
    }
  });

  it("fits the URL patterns of the Varnish configuration", async () => {
    const vcl = await readFile(new URL("../../../infra/varnish/default.vcl", import.meta.url), "utf8");
    const patterns = [...vcl.matchAll(/req\.url !~ "([^"]*audio\/[^"]*)"/g)].map(
      ([, pattern = ""]) => pattern,
    );
    expect(patterns).to.have.length(2);
    for (const pattern of patterns) {
      for (const extension of audioExtensions) {
        expect(`/audio/${hash}.${extension}`).to.match(new RegExp(pattern));
      }
    }
  });
});
