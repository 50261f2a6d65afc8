import { expect } from "chai";
import fc from "fast-check";
import { isSsml, textParts } from "../../src/client/text-parts.ts";
import { isSsml as serviceTakesForSsml } from "../../src/engines/text/ssml.ts";

describe("the parts of a text", () => {
  const texts = (text: string, longest?: number) => textParts(text, "en", longest).map((part) => part.text);

  it("are the text itself where it is short", () => {
    expect(textParts("Good morning. How are you?")).to.deep.equal([
      { index: 0, charIndex: 0, text: "Good morning. How are you?" },
    ]);
  });

  it("end between sentences, as many together as fit", () => {
    expect(texts("One is here. Two is here. Three is here.", 26)).to.deep.equal([
      "One is here. Two is here.",
      "Three is here.",
    ]);
  });

  it("end between words where a sentence is too long, and begin with none of its marks", () => {
    expect(texts("Hello, wide world, how are you today?", 12)).to.deep.equal([
      "Hello, wide",
      "world, how",
      "are you",
      "today?",
    ]);
  });

  it("end within a word only where the word alone is too long, and never within what is seen as one character", () => {
    expect(texts("aaaaaaaaaaaa", 5)).to.deep.equal(["aaaaa", "aaaaa", "aa"]);
    const family = "👨‍👩‍👧";
    expect(texts(family.repeat(3), family.length + 1)).to.deep.equal([family, family, family]);
  });

  it("are the languages' own: no spaces are needed", () => {
    const text = "今日は天気がいいです。明日は雨でしょう。";
    expect(textParts(text, "ja", 12).map((part) => part.text)).to.deep.equal([
      "今日は天気がいいです。",
      "明日は雨でしょう。",
    ]);
  });

  for (const [what, beginning] of [
    ["at the very beginning", ""],
    ["behind blanks", " \n\t"],
    ["behind a byte order mark", "\uFEFF"],
    ["behind an XML declaration", '<?xml version="1.0"?>\n'],
    ["behind a declaration and a comment", '<?xml version="1.0"?><!-- One. Two. -->'],
  ] as const) {
    it(`leave SSML ${what} whole, for no part of it would be well-formed`, () => {
      const ssml = `${beginning}<speak>${"One. Two. ".repeat(100)}</speak>`;
      expect(texts(ssml)).to.deep.equal([ssml.trim()]);
    });
  }

  it("take for SSML exactly what the service does", () => {
    const beginnings = ["", " ", "\n", "\uFEFF", "<?xml?>", "<!-- -->", "a", "<p>"];
    const elements = [
      "<speak>",
      "<speak/>",
      "<speaker>",
      "<speak",
      '<speak version="1.1">',
      "<Speak>",
      "speak",
    ];
    for (const first of beginnings)
      for (const second of beginnings)
        for (const element of elements) {
          const text = `${first}${second}${element} One.`;
          expect(isSsml(text), text).to.equal(serviceTakesForSsml(text));
        }
  });

  it("are none where there is nothing to speak", () => {
    expect(texts(" \n ")).to.deep.equal([]);
  });

  it("go by the rules of no language where the language's code is none", () => {
    expect(textParts("One. Two.", "not a language")).to.have.length(1);
  });

  it("lose nothing but blanks, know where they were, and are as long as they may be", () => {
    const longest = 20;
    const words = fc.string({ unit: fc.constantFrom("a", "é", " ", ".", ",", "\n", "好", "e\u0301", "!") });
    fc.assert(
      fc.property(words, (text) => {
        const parts = textParts(text, "en", longest);
        for (const { charIndex, text: part } of parts)
          expect(text.startsWith(part, charIndex)).to.equal(true);
        expect(parts.every(({ text }) => text.length <= longest && text === text.trim())).to.equal(true);
        expect(parts.map(({ index }) => index)).to.deep.equal([...parts.keys()]);
        const joined = parts.map(({ text }) => text).join("");
        expect(joined.replace(/\s/g, "")).to.equal(text.replace(/\s/g, ""));
      }),
    );
  });
});
