import { expect } from "chai";
import fc from "fast-check";
import { Invalid } from "../../../src/domain/errors.ts";
import { doubling, utf8Length } from "../../../src/domain/text/pieces.ts";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { splitSsml } from "../../../src/domain/text/ssml-pieces.ts";

const split = (document: string, max: number, target?: (index: number) => number): string[] =>
  splitSsml(parseSsml(document), "en-US", { measure: utf8Length, max, ...(target && { target }) });

const words = (document: string): string => document.replace(/<[^>]*>/g, "");

const text = fc
  .array(fc.constantFrom("one ", "two. ", "Three! ", "&lt;4 ", "&amp; ", "fünf 👩‍👩‍👧 "), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(""));
const { node } = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.constant('<break time="200ms"/>'),
    fc
      .tuple(
        fc.constantFrom("p", "s", "emphasis", 'prosody rate="slow"'),
        fc.array(tie("node"), { maxLength: 4 }),
      )
      .map(([tag, children]) => `<${tag}>${children.join("")}</${tag.split(" ")[0]}>`),
  ),
}));
const document = fc
  .array(node, { minLength: 1, maxLength: 6 })
  .map((nodes) => `<speak>Begin. ${nodes.join("")}</speak>`);

describe("Splitting SSML", () => {
  it("gives complete documents, none too large, that together have the same content", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 300, max: 600 }), fc.boolean(), (given, max, progressive) => {
        const pieces = split(given, max, progressive ? doubling(60) : undefined);
        for (const piece of pieces) {
          expect(utf8Length(piece)).to.be.at.most(max);
          if (words(piece).trim() !== "") expect(parseSsml(piece)).to.equal(piece);
        }
        expect(pieces.map(words).join("")).to.equal(words(parseSsml(given)));
      }),
    );
  });

  for (const [rule, given, max, expected] of [
    [
      "returns the document unchanged when it fits",
      "<speak>One. Two.</speak>",
      24,
      ["<speak>One. Two.</speak>"],
    ],
    [
      "splits between the elements of the document",
      "<speak><p>One</p><p>Two</p></speak>",
      30,
      ["<speak><p>One</p></speak>", "<speak><p>Two</p></speak>"],
    ],
    [
      "splits between the sentences of its text",
      "<speak>One. Two &amp; three.</speak>",
      32,
      ["<speak>One. </speak>", "<speak>Two &amp; three.</speak>"],
    ],
    [
      "closes an element that is too large and reopens it with its attributes",
      '<speak><prosody rate="slow">One. Two.</prosody></speak>',
      51,
      [
        '<speak><prosody rate="slow">One. </prosody></speak>',
        '<speak><prosody rate="slow">Two.</prosody></speak>',
      ],
    ],
  ] as const) {
    it(rule, () => {
      const pieces = split(given, max);
      expect(pieces).to.deep.equal(expected);
    });
  }

  it("rejects a document in which an element that cannot be split is too large", () => {
    const given = `<speak><phoneme alphabet="ipa" ph="a">${"word. ".repeat(40)}</phoneme></speak>`;
    try {
      split(given, 150);
      expect.fail("it was not refused");
    } catch (error) {
      expect(error).to.be.instanceOf(Invalid);
      expect((error as Invalid).problems.map(({ path }) => path)).to.deep.equal([["text"]]);
      expect((error as Invalid).message)
        .to.include("<phoneme>")
        .and.not.include("word");
    }
  });
});
