import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { audioFormats, formatOf, formats } from "../../../src/domain/synthesis/formats.ts";
import { isObjectName, objectName } from "../../../src/domain/synthesis/recipe.ts";
import { engines } from "../../../src/domain/synthesis/speech.ts";

const hash = "0".repeat(64);
const extensions = audioFormats.map((format) => formats[format].extension);

describe("The table of output formats", () => {
  it("has a unique extension and MIME type for each format", () => {
    expect(new Set(extensions).size).to.equal(extensions.length);
    const mimeTypes = audioFormats.map((format) => formats[format].mimeType);
    expect(new Set(mimeTypes).size).to.equal(mimeTypes.length);
  });

  for (const format of audioFormats) {
    it(`gives ${format} objects names that are accepted and lead back to the format`, () => {
      for (const websiteId of [undefined, "a"]) {
        const name = objectName({ format, ...(websiteId !== undefined && { websiteId }) }, hash);
        expect(isObjectName(name)).to.equal(true);
        expect(formatOf(name)).to.equal(format);
      }
    });
  }

  it("refuses object names with another extension", () => {
    expect(isObjectName(`audio/${hash}.txt`)).to.equal(false);
    expect(() => formatOf(`audio/${hash}.txt`)).to.throw(TypeError);
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
      for (const extension of extensions) {
        expect(`/audio/${hash}.${extension}`).to.match(new RegExp(pattern));
      }
    }
  });
});
