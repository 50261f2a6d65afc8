import { expect } from "chai";
import fc from "fast-check";
import { languages } from "../../../src/domain/catalog/seed/languages.ts";
import { unchanged } from "../../../src/domain/text/mapped-text.ts";
import type { Reader } from "../../../src/domain/text/preparation/reader.ts";
import { steps } from "../../../src/domain/text/preparation/steps.ts";

const prepared = (text: string, lang = "en-GB", tool: Reader["tool"] = "espeak") =>
  steps.reduce((mapped, step) => step(mapped, { lang, tool }), unchanged(text));
const written = (text: string, lang?: string, tool?: Reader["tool"]): string =>
  prepared(text, lang, tool).text;

const itWrites = (
  title: string,
  texts: readonly (readonly [text: string, written: string])[],
  lang = "en-GB",
) =>
  it(title, () => {
    for (const [text, expected] of texts) expect(written(text, lang), text).to.equal(expected);
  });

const itKeeps = (title: string, texts: readonly string[], lang = "en-GB") =>
  itWrites(
    title,
    texts.map((text) => [text, text]),
    lang,
  );

describe("The preparation of a text", () => {
  itKeeps(
    "keeps hyphens between numbers and after words",
    [
      "3-5 cats",
      "A-4",
      "Covid-19",
      "- 5 eggs",

      "I <3 you",
      "$HOME",
      "=====",
      "l·l",
    ],
    "fr-FR",
  );

  itKeeps(
    "joins no telephone numbers, years in a row and addresses",
    [
      "06 12 34 56 78",
      "0800 123 456",
      "800 123 456",
      "in 2020 300 people came",
      "192.168.100.200",
      "192.168.001.001",
      "1.234.56",
      "12.10.1987",
      "version 1.2.3",
    ],
    "pl-PL",
  );

  itWrites(
    "joins no groups after the plus sign of a telephone number",
    [["+48 123 456 789", "plus 48 123 456 789"]],
    "pl-PL",
  );

  itWrites(
    "finds the sign of a number where no blanks are between words, but no hyphens of names and ranges",
    [
      ["气温-5℃", "气温 负 5 摄氏度"],
      ["从-5℃到+5℃", "从 负 5 摄氏度到 加 5 摄氏度"],
      ["结果为-5", "结果为 负 5"],
      ["歼-20", "歼-20"],
      ["5度-10度", "5度-10度"],
      ["A-4", "A-4"],
    ],
    "zh-CN",
  );

  itWrites(
    "reads units before words without a blank between them",
    [
      ["気温は-5℃です", "気温は マイナス 5 どです"],
      ["20m²の部屋", "20 へいほうメートルの部屋"],
    ],
    "ja-JP",
  );

  itWrites(
    "reads the dash of a range, but not those of results and telephone numbers",
    [
      ["5–10 Tage", "5 bis 10 Tage"],
      ["1914–18", "1914 bis 18"],
      ["20 – 25 °C", "20 bis 25 Grad Celsius"],
      ["1,5–1,8", "1,5 bis 1,8"],
      ["9:00–9:30 Uhr", "9:00 bis 9:30 Uhr"],
      ["3–1", "3–1"],
      ["3–3", "3–3"],
      ["5-10", "5-10"],
      ["555–1234–5678", "555–1234–5678"],
    ],
    "de-DE",
  );

  itWrites(
    "reads the wave dash of a range",
    [
      ["5〜10人", "5 から 10人"],
      ["5～10%", "5 から 10 パーセント"],
    ],
    "ja-JP",
  );

  it("keeps the sign of a number before units and currencies whose words come first", () => {
    expect(written("-5%", "tr-TR")).to.equal("eksi yüzde 5");
    expect(written("-5%", "zh-CN")).to.equal("负 百分之 5");
    expect(written("-5 °C", "ko-KR")).to.equal("마이너스 섭씨 5도");
    expect(written("-$5", "sw-TZ")).to.equal("kutoa dola 5");
    expect(written("$-5", "sw-TZ")).to.equal("kutoa dola 5");
    expect(written("3-5 %", "tr-TR")).to.equal("yüzde 3-5");
  });

  it("names degrees in languages that have no name for degrees Celsius", () => {
    expect(written("5 °C", "la")).to.equal("5 gradus C");
    expect(written("1 °F", "lfn")).to.equal("1 grado F");
  });

  itWrites(
    "joins groups of digits as each language writes them",
    [
      ["10\u202f000", "10000"],
      ["10 000,5", "10000,5"],
      ["1.234.567", "1234567"],
      ["1’234’567", "1234567"],
      ["2020 10 000 Menschen", "2020 10000 Menschen"],
    ],
    "de-DE",
  );

  itWrites(
    "writes amounts of money in the plural of the language, with their hundredths",
    [
      ["5€10", "5 euros 10"],
      ["5 $US", "5 dollars US"],
      ["100 000 000 €", "100000000 euros"],
      ["123 456 789 €", "123456789 euros"],
      ["1 234,56 €", "1234 euros 56"],
      ["1,5 €", "1,5 euro"],
      ["€5–10", "5 à 10 euros"],
      ["-5 €", "moins 5 euros"],
      ["2020 5 €", "2020 5 euros"],
    ],
    "fr-FR",
  );

  it("takes a point for the sign of decimals only where the language does", () => {
    expect(written("1.234", "de-DE")).to.equal("1234");
    expect(written("1.234", "hi-IN")).to.equal("1.234");
    // The voice of Latin America reads points as those of groups.
    expect(written("1.234", "es-419")).to.equal("1,234");
    expect(written("1,234", "fr-FR")).to.equal("1,234");
    expect(written("1,234.5", "de-DE")).to.equal("1234,5");
  });

  itWrites(
    "keeps joiners where a script or an emoji needs them, and removes them elsewhere",
    [
      ["می\u200cروم", "می\u200cروم"],
      ["क्\u200dष", "क्\u200dष"],
      ["👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"],
      ["❤\ufe0f", "❤\ufe0f"],
      ["wo\u200drd", "word"],
      ["wo\u200crd", "word"],
    ],
    "fa-IR",
  );

  it("writes grouped English numbers with commas, so that four digits are no year", () => {
    expect(written("1 234 567")).to.equal("1 234 567");
    expect(written("12 000 people")).to.equal("12,000 people");
  });

  const characters = fc.constantFrom(
    ..."1234567890 .,-–−+±×÷=<>°%‰$€£₹½¼¾²³⁶Ⅳ①·•√§№†©&µπΩ/'’()\n\u00a0\u202f\u00ad\u200b\u200d٥५𝐇ﬁｱﾞeé\u0301abmkАבす",
  );
  const texts = fc.array(characters, { maxLength: 60 }).map((all) => all.join(""));
  const langs = fc.constantFrom(...languages.map(([, lang]) => lang));

  it("knows for each character what of the text it stands for, in the order of the text", () => {
    const { from, to } = prepared("1\n+ ", "en-GB"); // the line break is written twice
    for (const [unit, place] of from.entries()) expect(to[unit]).to.be.above(place);
    fc.assert(
      fc.property(texts, langs, (text, lang) => {
        const { text: after, from, to, length } = prepared(text, lang);
        expect(length).to.equal(Array.from(text).length);
        expect(from).to.have.length(after.length);
        for (let unit = 0; unit < after.length; unit++) {
          expect(from[unit]).to.be.at.least(from[unit - 1] ?? 0);
          expect(to[unit]).to.be.within((from[unit] ?? 0) + 1, length);
        }
      }),
    );
  });

  it("keeps each word that it does not change at its place", () => {
    const word = "unchanged";
    fc.assert(
      fc.property(texts, texts, langs, (before, after, lang) => {
        const at = Array.from(`${before} `).length;
        const mapped = prepared(`${before} ${word} ${after}`, lang);
        const found = mapped.text.indexOf(word);
        expect(found).to.be.at.least(0);
        expect(mapped.from[found]).to.equal(at);
        expect(mapped.to[found + word.length - 1]).to.equal(at + word.length);
      }),
    );
  });

  it("changes nothing that it has written", () => {
    for (const text of [
      "£5",
      "-5 °C",
      "10 000",
      "2½",
      "x²",
      "5 m²",
      "3 × 4",
      "Ⅳ ①",
      "ﬁ ｱ",
      "50 %",
      "5 µm",
      "$5m",
    ]) {
      for (const lang of ["en-GB", "de-DE", "ru-RU", "ja-JP", "he-IL", "sw-TZ", "ne-NP"]) {
        const once = written(text, lang);
        expect(written(once, lang), `${text} in ${lang}`).to.equal(once);
      }
    }
  });

  it("takes time in proportion to the length, whatever the characters", () => {
    const awkward = [..."1.,- –−+°%$€£½²·•<>=√&§№†Ⅳ①ｶ\u0301\u200b\u200d\u00adـπaक٥،\n"].concat([
      "1.",
      "1,",
      "1 ",
      "$1",
      "1$",
      "1 -",
      "- ",
      "<1",
      "a²",
      "1½",
      "e\u0301",
      "1\u00a0",
      "100 ",
      "1.000",
      "A$",
      "1 · ",
      "11 ",
    ]);
    for (const characters of awkward) {
      for (const lang of ["en-GB", "de-DE"]) {
        const text = characters.repeat(20_000 / characters.length);
        const before = process.cpuUsage();
        prepared(text, lang);
        const { user } = process.cpuUsage(before);
        // Quadratic patterns take seconds.
        expect(user / 1000, `${JSON.stringify(characters)} in ${lang}, in ms`).to.be.below(1500);
      }
    }
  });
});
