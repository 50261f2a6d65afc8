import { expect } from "chai";
import fc from "fast-check";
import { createIncomingText } from "../../../src/application/synthesis/incoming-text.ts";
import { completeSentencesOf } from "../../../src/domain/text/sentences.ts";

/** The pieces of a text in these chunks. */
const cut = (...chunks: readonly string[]): string[] => {
  const text = createIncomingText("en");
  return [...chunks.flatMap((chunk) => text.add(chunk)), ...text.end()];
};

describe("text that arrives in chunks", () => {
  it("has its first sentence as its first piece, as soon as the next one begins", () => {
    const text = createIncomingText("en");
    expect(text.add("It is ")).to.deep.equal([]);
    expect(text.add("done. ")).to.deep.equal([]);
    expect(text.add("T")).to.deep.equal(["It is done. "]);
    expect(text.add("he light in the kitchen is on.")).to.deep.equal([]);
    expect(text.end()).to.deep.equal(["The light in the kitchen is on."]);
  });

  it("is cut after what may be an abbreviation when the first word of the next sentence is complete", () => {
    const text = createIncomingText("en");
    expect(text.add("It is from the U.S. T")).to.deep.equal([]);
    expect(text.add("he")).to.deep.equal([]);
    expect(text.add(" ")).to.deep.equal(["It is from the U.S. "]);
  });

  it("is not cut within an abbreviation, a number or a lower-case continuation", () => {
    expect(cut("Mr. Smith paid 3.50 pounds, approx. half of it. Then he left.")).to.deep.equal([
      "Mr. Smith paid 3.50 pounds, approx. half of it. ",
      "Then he left.",
    ]);
    expect(cut("It is no. 5, the", " last. Good.")).to.deep.equal(["It is no. 5, the last. ", "Good."]);
  });

  it("has longer pieces later, so that many short sentences do not cost a synthesis each", () => {
    const pieces = cut("Yes, so. ".repeat(500));
    expect(pieces[0]).to.equal("Yes, so. ");
    expect(pieces.length).to.be.below(10 + 4_500 / 100);
    for (const piece of pieces.slice(10, -1)) expect(piece.length).to.be.within(100, 110);
  });

  it("is cut between words where no sentence ends", () => {
    const pieces = cut("word ".repeat(300));
    expect(pieces.map(({ length }) => length)).to.deep.equal([600, 600, 300]);
  });

  it("is never cut within a code point", () => {
    for (const piece of cut(`x${"🙂".repeat(700)}`)) expect(piece.isWellFormed()).to.equal(true);
  });

  it("has one piece if it is SSML", () => {
    const document = '<?xml version="1.0"?>\n<speak>One. Two. <break time="1s"/> Three. Four.</speak>';
    expect(cut(...document)).to.deep.equal([document]);
    expect(cut("  <speak>One. Two.", " Three.</speak>")).to.deep.equal(["  <speak>One. Two. Three.</speak>"]);
  });

  it("has no piece if it is blank", () => {
    expect(cut()).to.deep.equal([]);
    expect(cut(" ", "\n\n", "\t")).to.deep.equal([]);
  });

  const texts = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...[
            "One. ",
            "Two! ",
            "Really? ",
            "e.g. this ",
            "Mr. X. ",
            "3.5 ",
            "\n\n",
            "…",
            "(no. 5) ",
            "“So.” ",
          ],
          ...["你好。", "Γεια; ", "ნახვა. ", "🙂 ", "e\u0301. ", "word ", "A. B. ", "  ", "<b>", "… and "],
        ),
        fc.string({ unit: "grapheme", maxLength: 20 }),
        fc.nat(400).map((length) => "long ".repeat(length)),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(""));

  it("has the same pieces in whatever chunks it arrives, and they join to the text", () => {
    fc.assert(
      fc.property(texts, fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (text, lengths) => {
        const points = [...text];
        const chunks: string[] = [];
        for (let at = 0; at < points.length; ) {
          const length = lengths.next().value as number;
          chunks.push(points.slice(at, at + length).join(""));
          at += length;
        }
        const pieces = cut(...chunks);
        expect(pieces).to.deep.equal(cut(text));
        expect(pieces.join("")).to.equal(text.trim() === "" ? "" : text);
      }),
      { numRuns: 300 },
    );
  });

  describe("is searched for sentences in proportion to its length", () => {
    /** How many code units are searched for sentences. */
    const searched = (chunks: Iterable<string>): number => {
      let units = 0;
      const text = createIncomingText("en", (part, lang, isComplete) => {
        units += part.length;
        return completeSentencesOf(part, lang, isComplete);
      });
      for (const chunk of chunks) text.add(chunk);
      text.end();
      return units;
    };

    it("however many empty chunks follow", () => {
      const separators = "\u2028".repeat(590);
      const empty = Array<string>(10_000).fill("");
      expect(searched([separators, ...empty])).to.be.at.most(2 * separators.length);
    });

    for (const part of ["\u2028", "a", "A. ", "A. 1", " ", "word ", ".", "x      "])
      it(`if it consists of ${JSON.stringify(part)} and arrives in single characters`, () => {
        const text = part.repeat(5_000 / part.length);
        expect(searched(text)).to.be.at.most(17 * text.length);
      });

    it("in whatever chunks it arrives", () => {
      fc.assert(
        fc.property(texts, fc.infiniteStream(fc.nat(10)), (text, lengths) => {
          const chunks: string[] = [];
          for (let at = 0; at < text.length; ) {
            const length = lengths.next().value as number;
            chunks.push(text.slice(at, at + length));
            at += length;
          }
          expect(searched(chunks)).to.be.at.most(20 * text.length);
        }),
      );
    });
  });
});
