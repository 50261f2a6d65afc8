import { expect } from "chai";
import { isInRange, languageRange } from "../../../src/domain/catalog/language-match.ts";

describe("a language range", () => {
  for (const [range, lang, expected] of [
    ["en", "en-GB", true],
    ["en", "en", true],
    ["EN-gb", "en-GB", true],
    ["en-GB", "en-GB-scotland", true],
    ["en-GB", "en", false],
    ["en-GB", "en-US", false],
    ["e", "en-GB", false],
    ["en", "eng", false],
    ["es-419", "es-419", true],
    ["*", "tlh", true],
  ] as const) {
    it(`${range} ${expected ? "matches" : "does not match"} ${lang}`, () => {
      expect(isInRange(lang, range)).to.equal(expected);
    });
  }

  it("consists of one or more subtags of up to eight letters or digits, or an asterisk", () => {
    for (const range of ["en", "*", "zh-Hant-TW", "es-419", "i-klingon", "abcdefgh"]) {
      expect(languageRange.test(range), range).to.equal(true);
    }
    for (const range of ["", "en_GB", "-en", "en-", "en-*", "abcdefghi", "e n", "419", "日本"]) {
      expect(languageRange.test(range), range).to.equal(false);
    }
  });
});
