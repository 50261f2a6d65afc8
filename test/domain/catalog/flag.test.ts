import { expect } from "chai";
import { flagOf } from "../../../src/domain/catalog/flag.ts";
import { languages } from "../../../src/domain/catalog/seed/languages.ts";

describe("a language's flag", () => {
  for (const [lang, flag] of [
    ["en-US", "us"],
    ["sr-Latn-RS", "rs"],
    ["zh-CN-liaoning", "cn"],
    ["yue-HK", "hk"],
    ["fil-PH", "ph"],
  ] as const) {
    it(`is the flag of its region: ${lang}`, () => expect(flagOf(lang)).to.equal(flag));
  }

  for (const [lang, flag] of [
    ["en", "us"],
    ["ar-XA", "eg"],
    ["es-419", "es"],
    ["en-001", "us"],
  ] as const) {
    it(`is the flag of its likeliest region if it names no country: ${lang}`, () =>
      expect(flagOf(lang)).to.equal(flag));
  }

  it("is xx for a language without a country", () => {
    for (const lang of ["eo", "tlh", "und", "no language"]) expect(flagOf(lang), lang).to.equal("xx");
  });

  it("is the flag that the seed's voices of the country have", () => {
    for (const [, lang, , , flag] of languages) {
      if (/-[A-Z]{2}$/.test(lang)) expect(flagOf(lang), lang).to.equal(flag);
    }
  });
});
