import { expect } from "chai";
import fc from "fast-check";
import { Invalid } from "../../../src/domain/errors.ts";
import { doubling, splitText, utf8Length } from "../../../src/engines/text/pieces.ts";

const length = (text: string): number => text.length;
const split = (text: string, max: number, target?: (index: number) => number): string[] =>
  splitText(text, "en-US", { measure: length, max, ...(target && { target }) });

/** Of what cuts go wrong on: blanks, stops, surrogate pairs, marks, joined emoji, scripts without blanks, halves of pairs. */
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

/** Where a reader sees one character end and another begin. */
const seams = (text: string): Set<number> =>
  new Set([
    ...Array.from(new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text), ({ index }) => index),
    text.length,
  ]);

describe("A text in pieces", () => {
  it("is given back whole when they are joined, none larger than it may be, none empty", () => {
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

  it("is never cut within what a reader sees as one character", () => {
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

  for (const [rule, text, max, expected] of [
    ["is one piece when it fits", "One. Two.", 9, ["One. Two."]],
    ["is cut between sentences", "One two. Three four.", 12, ["One two. ", "Three four."]],
    ["has as many sentences in a piece as fit", "A b. C d. E f. G h.", 10, ["A b. C d. ", "E f. G h."]],
    [
      "is cut between words where a sentence is too large",
      "one two three four",
      9,
      ["one two ", "three ", "four"],
    ],
    ["is cut between characters where a word is too large", "abcdefgh", 3, ["abc", "def", "gh"]],
    [
      "is cut after a comma before it is cut between words",
      "one two, three four",
      13,
      ["one two, ", "three four"],
    ],
    ["is not cut at the comma of a number", "it is 1,000 now", 10, ["it is ", "1,000 now"]],
    ["is cut in parts of one size where a number is too large", "1234567890", 8, ["12345", "67890"]],
    [
      "is not cut after a title or an initial",
      "Who is it? Mr. J. Doe is.",
      18,
      ["Who is it? ", "Mr. J. Doe is."],
    ],
    [
      "is not cut where a line is broken within a sentence",
      "Go now. It is a\nlong way.",
      17,
      ["Go now. ", "It is a\nlong way."],
    ],
    [
      "is cut where a sentence seems to go on before it is cut between words",
      "are you there? i am! where are you?",
      21,
      ["are you there? i am! ", "where are you?"],
    ],
    ["is cut at the stops of other scripts", "他来了。我走了！", 4, ["他来了。", "我走了！"]],
    ["is cut between words where they have no blanks", "日本語です", 4, ["日本語", "です"]],
    ["has its marks with their letters", "e\u0301e\u0301e\u0301", 4, ["e\u0301e\u0301", "e\u0301"]],
    ["has its emoji whole", "👩‍👩‍👧👩‍👩‍👧", 9, ["👩‍👩‍👧", "👩‍👩‍👧"]],
    ["is nothing when it is empty", "", 10, []],
  ] as const) {
    it(rule, () => {
      const pieces = split(text, max);
      expect(pieces).to.deep.equal(expected);
    });
  }

  it("is cut in a language that nobody knows as in any other", () => {
    for (const lang of ["", "no such_language", "xx-YY", "cmn-CN"]) {
      expect(splitText("One. Two.", lang, { measure: length, max: 5 })).to.deep.equal(["One. ", "Two."]);
    }
  });

  it("is refused when one character is too large to be sent", () => {
    expect(() => split(`a${"\u0301".repeat(50)}`, 20)).to.throw(Invalid);
  });
});

describe("A text for a listener who waits", () => {
  const sentence = "This is a sentence of fifty characters, not fewer. ";

  it("begins with its first sentence, however much fits", () => {
    expect(split(sentence.repeat(20), 5000, doubling(40))[0]).to.equal(sentence);
  });

  it("begins with its first sentence in a script whose every letter is a small one", () => {
    const [first, second] = ["დღეს კარგი ამინდია. ", "ხვალ წვიმა იქნება."];
    expect(split(`${first}${second}`, 5000, doubling(10))).to.deep.equal([first, second]);
  });

  it("does not begin with less than a moment's listening", () => {
    expect(split(`Hi. Yes. ${sentence.repeat(3)}`, 5000, doubling(40))[0]).to.equal(`Hi. Yes. ${sentence}`);
  });

  it("goes on in pieces that grow, so that the next is there when the one before has been heard", () => {
    const sizes = split(sentence.repeat(40), 700, doubling(50)).map(({ length }) => length / sentence.length);
    expect(sizes).to.deep.equal([1, 2, 4, 8, 13, 12]);
  });
});
