import { expect } from "chai";
import fc from "fast-check";
import { loadTextParts, textParts } from "../../src/client/text-parts.ts";

describe("splitting a text into parts", () => {
  const texts = (text: string, maxLength?: number) =>
    textParts(text, { lang: "en", ...(maxLength && { maxLength }) }).map((part) => part.text);

  it("returns a short text as one part", () => {
    expect(textParts("Good morning. How are you?")).to.deep.equal([
      { index: 0, charIndex: 0, text: "Good morning. How are you?" },
    ]);
  });

  it("splits between sentences, and packs as many as fit", () => {
    expect(texts("One is here. Two is here. Three is here.", 26)).to.deep.equal([
      "One is here. Two is here.",
      "Three is here.",
    ]);
  });

  it("follows the service's rules of sentences if the text is long", async () => {
    const [first, second] = [`${"One two three. ".repeat(17)}He is here.`, "Dr. Jones lives there."];
    const parts = await loadTextParts([{ text: `${first} ${second}`, lang: "en-GB" }]);
    expect(parts.flat().map(({ text }) => text)).to.deep.equal([first, second]);
    expect(textParts(`${first} ${second}`).map(({ text }) => text)).to.deep.equal([
      `${first} Dr.`,
      "Jones lives there.",
    ]);
    expect(await loadTextParts([{ text: "Dr. Jones" }])).to.deep.equal([textParts("Dr. Jones")]);
  });

  it("splits between paragraphs, which have the same parts in every text", () => {
    const [first, second] = ["A heading", "One is here. Two is here."];
    expect(textParts(`${first}\n \n${second}`)).to.deep.equal([
      { index: 0, charIndex: 0, text: first },
      { index: 1, charIndex: 12, text: second },
    ]);
    expect(texts(`One\nline after the other.`)).to.deep.equal(["One\nline after the other."]);
  });

  it("splits a long sentence between words, and starts no part with punctuation", () => {
    expect(texts("Hello, wide world, how are you today?", 12)).to.deep.equal([
      "Hello, wide",
      "world, how",
      "are you",
      "today?",
    ]);
  });

  it("splits a word only if it is too long itself, and never within a grapheme", () => {
    expect(texts("aaaaaaaaaaaa", 5)).to.deep.equal(["aaaaa", "aaaaa", "aa"]);
    const family = "👨‍👩‍👧";
    expect(texts(family.repeat(3), family.length + 1)).to.deep.equal([family, family, family]);
  });

  it("splits languages without spaces", () => {
    const text = "今日は天気がいいです。明日は雨でしょう。";
    expect(textParts(text, { lang: "ja", maxLength: 12 }).map((part) => part.text)).to.deep.equal([
      "今日は天気がいいです。",
      "明日は雨でしょう。",
    ]);
  });

  for (const [what, beginning] of [
    ["at the beginning", ""],
    ["after whitespace", " \n\t"],
    ["after a byte order mark", "\uFEFF"],
    ["after an XML declaration", '<?xml version="1.0"?>\n'],
    ["after a declaration and a comment", '<?xml version="1.0"?><!-- One. Two. -->'],
  ] as const) {
    it(`does not split SSML that starts ${what}`, () => {
      const ssml = `${beginning}<speak>${"One. Two. ".repeat(100)}</speak>`;
      expect(texts(ssml)).to.deep.equal([ssml.trim()]);
    });
  }

  it("returns no part for whitespace", () => {
    expect(texts(" \n ")).to.deep.equal([]);
  });

  it("ignores an invalid language tag", () => {
    expect(textParts("One. Two.", { lang: "not a language" })).to.have.length(1);
  });

  it("drops nothing but whitespace, returns correct offsets, and respects the maximum length", () => {
    const maxLength = 20;
    const words = fc.string({ unit: fc.constantFrom("a", "é", " ", ".", ",", "\n", "好", "e\u0301", "!") });
    fc.assert(
      fc.property(words, (text) => {
        const parts = textParts(text, { lang: "en", maxLength });
        for (const { charIndex, text: part } of parts)
          expect(text.startsWith(part, charIndex)).to.equal(true);
        expect(parts.every(({ text }) => text.length <= maxLength && text === text.trim())).to.equal(true);
        expect(parts.map(({ index }) => index)).to.deep.equal([...parts.keys()]);
        const joined = parts.map(({ text }) => text).join("");
        expect(joined.replace(/\s/g, "")).to.equal(text.replace(/\s/g, ""));
      }),
    );
  });
});
