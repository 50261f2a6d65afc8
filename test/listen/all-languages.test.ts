import { expect } from "chai";
import { languages } from "../../src/domain/catalog/seed/languages.ts";
import { samplesOf } from "../support/same-sound.ts";

/** One text for each sign. */
const texts = [
  ...[..."€£¥₹₽₩₺₴₪₫¢₿$°℃℉%‰Ω½¼¾π∞²"].map((sign) => `5 ${sign}`),
  ...[..."±×÷=≈≠≤≥→√§№†©®™"].map((sign) => `${sign} 5`),
  ...[..."−-+"].map((sign) => `${sign}5`),
];

/**
 * Signs that have no word, of which a voice is silent, by language: most are constructed or of the
 * past.
 */
const withoutWord: Readonly<Record<string, string>> = {
  chr: "½¼¾²",
  io: "©®™",
  qya: "€£¥₹₽₺₴₪₫¢₿$°‰½¼¾∞×÷≤≥→√§№†©®™",
  sjn: "€£¥₹₽₺₴₪₫¢₿$°‰½¼¾∞×÷≤≥→√§№†©®™",
  art: "€£¥₹₽₺₴₪₫¢₿$°‰∞×÷≤≥→√§№†©®™",
  gn: "≤≥→√†©®™",
  hak: "‰∞≤≥→√§†©®™",
  haw: "‰≤≥→√†©®™",
  jbo: "€£¥₹₽₺₴₪₫¢₿$°‰≤≥→√§№†©®™",
  kl: "≤≥→†",
  mi: "≤≥→√†",
  nci: "€£¥₹₽₺₴₪₫¢₿$°‰∞×÷≤≥→√§№†©®™",
  nog: "∞≤≥→√†©®™",
  om: "≤≥→†",
  qdb: "€£¥₹₽₺₴₪₫¢₿$°‰∞×÷≤≥→√§№†©®™",
  quc: "€£¥₹₽₺₴₪₫¢₿$°‰∞×÷≤≥→√§№†",
  shn: "№",
  smj: "≤≥→√†©®™",
  tlh: "€£¥₹₽₺₴₪₫¢₿$°‰∞×÷≤≥→√§№†©®™",
  tn: "≤≥→√†",
  tt: "≤≥→√†",
  ug: "≤≥→√†",
};

/** The English voices, for example, have the same words. */
const nameOf = (lang: string): string => (lang === "zh-HK" ? "yue" : lang.replace(/-.*/, ""));
const firstOfEach = new Map(languages.map(([, lang]) => [nameOf(lang), lang] as const).reverse());

describe("Every sign with a number", () => {
  for (const [language, lang] of firstOfEach) {
    it(`is heard in ${lang}, or has no word there`, async () => {
      const heardOf = (text: string): Promise<string> => samplesOf(text, lang).catch(() => "nothing");
      const alone = await heardOf("5");
      const heard = await Promise.all(texts.map(heardOf));
      const lost = texts
        .filter((_, index) => heard[index] === alone)
        .map((text) => text.replace(/\s?5\s?/, ""));
      expect(lost.join("")).to.equal(withoutWord[language] ?? "");
    });
  }
});
