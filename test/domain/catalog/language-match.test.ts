import { expect } from "chai";
import {
  isInRange,
  isSameLanguage,
  languageRange,
  matchLanguage,
} from "../../../src/domain/catalog/language-match.ts";

describe("a language range", () => {
  for (const [range, lang, expected] of [
    ["en", "en-GB", true],
    ["en", "en", true],
    ["EN-gb", "en-GB", true],
    ["en-GB", "en-GB-scotland", true],
    ["en-GB", "en", false],
    ["en-GB", "en-US", false],
    ["e", "en-GB", false],
    ["en", "enm", false],
    ["en", "eng", true],
    ["en-GB-x-rp", "en-GB", false],
    ["es-419", "es-419", true],
    ["*", "tlh", true],
    ["zh", "cmn-CN", true],
    ["zh", "yue-HK", true],
    ["zh-CN", "cmn-CN", true],
    ["cmn", "zh-CN", true],
    ["cmn", "zh-HK", false],
    ["cmn-CN", "zh-CN", true],
    ["cmn-Hans-CN", "zh-CN", true],
    ["cmn-TW", "zh-CN", false],
    ["zh-Hant", "cmn-TW", true],
    ["zh-cmn", "zh-TW", true],
    ["yue", "zh-HK", true],
    ["zh-HK", "yue-HK", true],
    ["zh-yue", "zh-HK", true],
    ["yue", "zh-CN", false],
    ["tl", "fil-PH", true],
    ["no", "nb-NO", true],
    ["nn", "nb-NO", true],
    ["iw", "he-IL", true],
    ["in", "id-ID", true],
    ["sh", "sr-Latn", true],
    ["sr-Latn", "sr-RS", false],
    ["mo", "ro-RO", true],
    ["jw", "jv-ID", true],
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

describe("the best available language", () => {
  const google = ["cmn-CN", "cmn-TW", "yue-HK", "fil-PH", "nb-NO", "he-IL", "sr-RS"];
  for (const [found, codes] of [
    ["cmn-CN", "zh zh-CN zh-Hans zh-Hans-CN zh-SG zh-cmn cmn cmn-CN cmn-Hans-CN CMN-cn"],
    ["cmn-TW", "zh-TW zh-Hant zh-Hant-TW cmn-TW cmn-Hant-TW zh-cmn-TW"],
    ["yue-HK", "yue yue-HK zh-HK zh-Hant-HK zh-MO zh-yue zh-yue-HK"],
    ["fil-PH", "fil fil-PH tl tl-PH tgl"],
    ["nb-NO", "no no-NO nb nb-NO nn nn-NO nor"],
    ["he-IL", "he he-IL iw iw-IL heb"],
    ["sr-RS", "sr sr-RS sr-Latn sh sr-Cyrl-ME"],
  ] as const) {
    it(`is ${found} for ${codes}`, () => {
      for (const code of codes.split(" ")) expect(matchLanguage(code, google), code).to.equal(found);
    });
  }

  it("is found by Google's codes among those of the catalog", () => {
    const ours = ["zh-CN", "zh-HK", "id-ID", "ro-RO", "hak-TW"];
    for (const [code, found] of [
      ["cmn-CN", "zh-CN"],
      ["cmn-TW", "zh-CN"],
      ["yue-HK", "zh-HK"],
      ["zh-hakka", "hak-TW"],
      ["in-ID", "id-ID"],
      ["mo", "ro-RO"],
      ["jw", undefined],
      ["zh-xx-not-a-tag", undefined],
    ] as const) {
      expect(matchLanguage(code, ours), code).to.equal(found);
    }
  });

  it("is another code of the same language if the regions are equal", () => {
    expect(isSameLanguage("cmn-CN", "zh-CN")).to.equal(true);
    expect(isSameLanguage("cmn-TW", "zh-CN")).to.equal(false);
    expect(isSameLanguage("no such tag", "no such tag")).to.equal(true);
  });
});
