import { expect } from "chai";
import { sampleSentence } from "../../../src/domain/catalog/sample-sentences.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";

describe("the sample of a language", () => {
  const langs = [...new Set(releaseSeed().voices.map(({ lang }) => lang))];

  it("has something to say in each language of the catalog, in one or two sentences", () => {
    const wrong = langs.filter((lang) => !/^[\p{L}\p{M}].{4,90}$/u.test(sampleSentence(lang)));
    expect(wrong).to.deep.equal([]);
  });

  it("is the same in all regions of a language, unless a region writes differently", () => {
    expect(sampleSentence("en-GB-x-rp")).to.equal(sampleSentence("en-US"));
    expect(sampleSentence("zh-TW")).to.not.equal(sampleSentence("zh-CN"));
  });

  it("names a language that has no sentence, and counts", () => {
    expect(langs.filter((lang) => sampleSentence(lang).endsWith(": 1, 2, 3, 4, 5."))).to.deep.equal([
      ...["an-ES", "bpy-IN", "nci", "nog-RU", "art-x-pyash"],
    ]);
    expect(sampleSentence("gl-ES")).to.equal("galego: 1, 2, 3, 4, 5.");
  });
});
