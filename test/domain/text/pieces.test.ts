import { expect } from "chai";
import fc from "fast-check";
import { Invalid } from "../../../src/domain/errors.ts";
import { doubling, splitText, utf8Length } from "../../../src/domain/text/pieces.ts";

const length = (text: string): number => text.length;
const split = (text: string, max: number, target?: (index: number) => number): string[] =>
  splitText(text, "en-US", { measure: length, max, ...(target && { target }) });

/**
 * Characters at which splitting is hard: blanks, stops, surrogate pairs, marks, joined emoji,
 * scripts without blanks, lone surrogates.
 */
const alphabet = [
  ...["a", "Be", "été", " ", " ", "  ", ". ", "! ", "? ", "… ", "\n", "\r\n", ", ", "Mr. ", "3.14", "-"],
  ...[
    "e\u0301",
    "👩‍👩‍👧",
    "🇦🇹",
    "𝒳",
    "日",
    "。",
    "はい",
    "สวัสดี",
    "한국",
    "नमस्ते",
    "\ud83d",
    "\udc69",
    "\u200d",
  ],
];
const someText = fc.array(fc.constantFrom(...alphabet), { maxLength: 120 }).map((parts) => parts.join(""));

/** The grapheme cluster boundaries. */
const seams = (text: string): Set<number> =>
  new Set([
    ...Array.from(new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text), ({ index }) => index),
    text.length,
  ]);

describe("Splitting a text", () => {
  it("gives pieces that concatenate to the text, none too large, none empty", () => {
    fc.assert(
      fc.property(someText, fc.integer({ min: 40, max: 200 }), fc.boolean(), (text, max, growingPieces) => {
        const pieces = splitText(text, "en-US", {
          measure: utf8Length,
          max,
          ...(growingPieces && { target: doubling(10) }),
        });
        expect(pieces.join("")).to.equal(text);
        for (const piece of pieces) expect(utf8Length(piece)).to.be.within(1, max);
      }),
    );
  });

  it("never splits a grapheme cluster", () => {
    fc.assert(
      fc.property(someText, fc.integer({ min: 40, max: 80 }), (text, max) => {
        const allowed = seams(text);
        let at = 0;
        for (const piece of splitText(text, "en-US", { measure: utf8Length, max })) {
          at += piece.length;
          expect(allowed.has(at), `at ${at}`).to.equal(true);
        }
      }),
    );
  });

  it("does not split a grapheme cluster after a comma", () => {
    const clauses = splitText(`${"a".repeat(40)}, \u200d👩 b、\u3099${"c".repeat(30)}`, "en-US", {
      measure: utf8Length,
      max: 48,
    });
    for (const clause of clauses) expect(clause).not.to.match(/^[\u200d\u3099]/);
  });

  for (const [rule, text, max, expected] of [
    ["gives one piece when the text fits", "One. Two.", 9, ["One. Two."]],
    ["splits between sentences", "One two. Three four.", 12, ["One two. ", "Three four."]],
    [
      "fills each piece with as many sentences as fit",
      "A b. C d. E f. G h.",
      10,
      ["A b. C d. ", "E f. G h."],
    ],
    [
      "splits between words when a sentence is too large",
      "one two three four",
      9,
      ["one two ", "three ", "four"],
    ],
    ["splits between characters when a word is too large", "abcdefgh", 3, ["abc", "def", "gh"]],
    [
      "prefers to split after a comma rather than between words",
      "one two, three four",
      13,
      ["one two, ", "three four"],
    ],
    ["does not split at the comma of a number", "it is 1,000 now", 10, ["it is ", "1,000 now"]],
    ["splits a number that is too large into equal parts", "1234567890", 8, ["12345", "67890"]],
    [
      "does not split after a title or an initial",
      "Who is it? Mr. J. Doe is.",
      18,
      ["Who is it? ", "Mr. J. Doe is."],
    ],
    [
      "does not split at a line break within a sentence",
      "Go now. It is a\nlong way.",
      17,
      ["Go now. ", "It is a\nlong way."],
    ],
    [
      "prefers to split after a stop without a capital letter rather than between words",
      "are you there? i am! where are you?",
      21,
      ["are you there? i am! ", "where are you?"],
    ],
    ["splits at the stops of other scripts", "他来了。我走了！", 4, ["他来了。", "我走了！"]],
    ["splits between words in scripts without blanks", "日本語です", 4, ["日本語", "です"]],
    ["keeps combining marks with their letters", "e\u0301e\u0301e\u0301", 4, ["e\u0301e\u0301", "e\u0301"]],
    ["keeps joined emoji together", "👩‍👩‍👧👩‍👩‍👧", 9, ["👩‍👩‍👧", "👩‍👩‍👧"]],
    ["gives no pieces for an empty text", "", 10, []],
  ] as const) {
    it(rule, () => {
      const pieces = split(text, max);
      expect(pieces).to.deep.equal(expected);
    });
  }

  it("works for an unknown language as for any other", () => {
    for (const lang of ["", "no such_language", "xx-YY", "cmn-CN"]) {
      expect(splitText("One. Two.", lang, { measure: length, max: 5 })).to.deep.equal(["One. ", "Two."]);
    }
  });

  it("keeps a comma, a run of blanks and the blank after it together", () => {
    expect(split("One,    two   three", 9)).to.deep.equal(["One,    ", "two   ", "three"]);
  });

  it("rejects a text in which one character exceeds the size bound", () => {
    expect(() => split(`a${"\u0301".repeat(50)}`, 20)).to.throw(Invalid);
  });
});

describe("Splitting a text for progressive playback", () => {
  const sentence = "This is a sentence of fifty characters, not fewer. ";

  it("starts with the first sentence alone, however much would fit", () => {
    expect(split(sentence.repeat(20), 5000, doubling(40))[0]).to.equal(sentence);
  });

  it("starts with the first sentence alone in a script without upper case", () => {
    const [first, second] = ["დღეს კარგი ამინდია. ", "ხვალ წვიმა იქნება."];
    expect(split(`${first}${second}`, 5000, doubling(10))).to.deep.equal([first, second]);
  });

  it("extends a first piece that would be too short to listen to", () => {
    expect(split(`Hi. Yes. ${sentence.repeat(3)}`, 5000, doubling(40))[0]).to.equal(`Hi. Yes. ${sentence}`);
  });

  it("lets the pieces grow, so that each is ready when the one before it has been played", () => {
    const sizes = split(sentence.repeat(40), 700, doubling(50)).map(({ length }) => length / sentence.length);
    expect(sizes).to.deep.equal([1, 2, 4, 8, 13, 12]);
  });
});
