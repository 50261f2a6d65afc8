import { expect } from "chai";
import { placeMarks, type SpokenEvent } from "../../../src/domain/text/place-marks.ts";
import { spokenText } from "../../../src/domain/text/spoken-text.ts";
import { wordAt } from "../../support/word-at.ts";

const word = (at: number, seconds: number): SpokenEvent => ({ kind: "word", at, seconds });
const sentence = (at: number, seconds: number): SpokenEvent => ({ kind: "sentence", at, seconds });
const place = (text: string, events: readonly SpokenEvent[], lang = "en") =>
  placeMarks(spokenText(text, false), events, lang).map((mark) => [mark.time, mark.type, wordAt(text, mark)]);

describe("The marks of a text", () => {
  it("are its written words without their punctuation, from their first events", () => {
    expect(
      place('He paid "$3.14".', [word(0, 0), word(3, 0.1), word(9, 0.2), word(10, 0.3), word(11, 0.4)]),
    ).to.deep.equal([
      [0, "word", "He"],
      [100, "word", "paid"],
      [200, "word", "$3.14"],
    ]);
  });

  it("never go back in the text", () => {
    expect(place("one two three", [word(0, 0), word(8, 0.1), word(4, 0.2), word(0, 0.3)])).to.deep.equal([
      [0, "word", "one"],
      [100, "word", "three"],
    ]);
  });

  it("of words that are spoken together are in proportion to their letters, before the next event", () => {
    const events = [
      { ...word(0, 1), until: { at: 2, seconds: 1.2 } },
      { ...word(3, 1.2), until: { at: 11, seconds: 1.8 } },
      { ...word(11, 1.8), until: { at: 16, seconds: 2.3 } },
    ];
    expect(place("so most of the night", events)).to.deep.equal([
      [1000, "word", "so"],
      [1200, "word", "most"],
      [1525, "word", "of"],
      [1800, "word", "the"],
      [1988, "word", "night"],
    ]);
  });

  it("of digits that are spoken together with other words are as long as words", () => {
    const events = [{ ...word(0, 1), until: { at: 15, seconds: 2.5 } }];
    expect(place("5 de marzo 2026", events, "es").map(([time]) => time)).to.deep.equal([
      1000, 1222, 1333, 1611,
    ]);
  });

  it("join words of scripts without blanks that have no event of their own", () => {
    expect(place("こんにちは世界。はい", [word(0, 0), word(8, 0.5)], "ja")).to.deep.equal([
      [0, "word", "こんにちは世界"],
      [500, "word", "はい"],
    ]);
  });

  it("put a sentence before its first word, and drop one without words", () => {
    expect(
      place("One. — Two!", [sentence(0, 0), word(0, 0), sentence(5, 0.4), sentence(7, 0.5), word(7, 0.5)]),
    ).to.deep.equal([
      [0, "sentence", "One."],
      [0, "word", "One"],
      [500, "sentence", "Two!"],
      [500, "word", "Two"],
    ]);
  });

  it("are sentences alone where no words are reported", () => {
    expect(place("One. — Two!", [sentence(0, 0), sentence(5, 0.4), sentence(7, 0.5)])).to.deep.equal([
      [0, "sentence", "One."],
      [500, "sentence", "Two!"],
    ]);
  });

  it("are those of SSML as well, at the next word or the end of the sound, with the place of their tags", () => {
    const text = "<speak><mark name='a'/>One <mark name='b'></mark>two<bookmark mark='c'/></speak>";
    const marks = placeMarks(
      spokenText(text, true),
      [sentence(0, 0.1), word(0, 0.1), word(4, 0.4)],
      "en",
      0.9,
    );
    expect(marks.map(({ time, type, start, end }) => [time, type, text.slice(start, end)])).to.deep.equal([
      [100, "mark", "<mark name='a'/>"],
      [100, "sentence", text.slice(text.indexOf("One"), text.indexOf("two") + 3)],
      [100, "word", "One"],
      [400, "mark", "<mark name='b'>"],
      [400, "word", "two"],
      [900, "mark", "<bookmark mark='c'/>"],
    ]);
  });

  it("ignore an event in the middle of blanks, and one beyond the text", () => {
    expect(place("a   b", [word(2, 0), word(9, 0.1), word(4, 0.2)])).to.deep.equal([[200, "word", "b"]]);
  });
});

describe("The spoken characters of a text", () => {
  const written = (document: string) => {
    const { characters, starts, ends } = spokenText(document, true);
    const source = Array.from(document);
    return characters.map((character, at) => [character, source.slice(starts[at], ends[at]).join("")]);
  };

  it("are all code points of a plain text", () => {
    const { characters, starts, ends } = spokenText("a\u{1F642}b", false);
    expect([characters, starts, ends]).to.deep.equal([
      ["a", "\u{1F642}", "b"],
      [0, 1, 2],
      [1, 2, 3],
    ]);
  });

  it("leave out markup, comments and instructions, and decode references", () => {
    expect(
      written('<?x y?><!-- c --><speak a="1>2">A<!--b-->&amp;<p>&#x42;</p>\r\n<![CDATA[<]]></speak>'),
    ).to.deep.equal([
      ["A", "A"],
      ["&", "&amp;"],
      ["B", "&#x42;"],
      ["\n", "\r\n"],
      ["<", "<"],
    ]);
  });

  it("are those of an alias, in the place of what it replaces", () => {
    expect(written('<speak><sub alias="a&lt;">W<s>3</s></sub>.</speak>')).to.deep.equal([
      ["a", "W<s>3</s>"],
      ["<", "W<s>3</s>"],
      [".", "."],
    ]);
  });

  it("keep where elements end a word", () => {
    expect([...spokenText("<speak><p>a</p><p>b<break/>c</p></speak>", true).breaks]).to.include.members([
      1, 2,
    ]);
  });
});
