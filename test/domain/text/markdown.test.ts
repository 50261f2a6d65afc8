import { expect } from "chai";
import fc from "fast-check";
import { isSsml } from "../../../src/domain/text/is-ssml.ts";
import { readMarkdown } from "../../../src/domain/text/markdown.ts";
import { placeMarks } from "../../../src/domain/text/place-marks.ts";
import { spokenOf } from "../../../src/domain/text/spoken-text.ts";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { wordAt } from "../../support/word-at.ts";

const plain = (source: string): string => readMarkdown(source)(false).document;

describe("Markdown is read aloud", () => {
  for (const [rule, source, expected] of [
    ["without emphasis", "**He**llo *all* of ___you___ ~~now~~", "Hello all of you now"],
    [
      "with a pause after a heading",
      "# A *title* #\nText\n\nSet\n===\nMore",
      "A title\n\nText\n\nSet\n\nMore",
    ],
    [
      "with the items of lists as sentences",
      "- milk\n- [ ] eggs\n  and more\n* bread",
      "milk\n\neggs\nand more\n\nbread",
    ],
    ["with the numbers of ordered lists", "3) wash\n4) dry\n\n   - now", "3. wash\n\n4. dry\n\nnow"],
    ["with the cells of tables", "| a | b |\n|---|:-:|\n| 1 | *2* |", "a, b\n\n1, 2"],
    [
      "with code as words, and without blocks of code",
      "Use `npm *i*`\n\n```sh\nrm -rf\n```\n\nnow",
      "Use npm *i*\n\nnow",
    ],
    [
      "with the texts of links and images",
      "A [link](http://x.y 'z') ![a *dog*](d.png) [r][1] [s]\n\n[1]: u\n[s]: v",
      "A link a dog r s",
    ],
    [
      "with addresses that are the text",
      "See <https://x.y> and https://z.y",
      "See https://x.y and https://z.y",
    ],
    [
      "with links within footnotes, headings and images",
      "# [a *b*](c)\n\n[![d](e)](f)\n\n[^1]: [g](h) [i][j]",
      "a b\n\nd\n\ng [i][j]",
    ],
    [
      "with the brackets of labels that are not defined",
      "He [*sic*] x[0][1] ![a][b] [c][] [D  e][] [](f) z[^2]\n\n[d E]: u",
      "He [sic] x[0][1] ![a][b] [c][] D  e z[^2]",
    ],
    ["without references of footnotes", "So[^1] it is.\n\n[^1]: A *note*.", "So it is.\n\nA note."],
    [
      "with footnotes of one word, and in adjacent lines",
      "a[^1] b[^c]\n\n[^1]: one\n[^c]: two\nlines",
      "a b\n\none\n\ntwo\nlines",
    ],
    ["with the line breaks of all systems", "a\r\nb\r\n\r\n- c\r  d\r\r# e\r\n\tf", "a\nb\n\nc\nd\n\ne\n\nf"],
    ["without signs of quotations and rules", "> one\n> two\n\n---\n\nthree", "one\ntwo\n\nthree"],
    [
      "without tags and comments of HTML",
      "a <b class='x'>b</b> c<br>d <!-- no --> e\n\n<div>\nf\n</div>",
      "a b c\n\nd e\n\nf",
    ],
    ["with entities as their characters", "a &amp; b &#8364; &copy;", "a & b € ©"],
    ["with escaped signs", "\\*no\\* 2\\_3 \\<speak>", "*no* 2_3 <speak>"],
    ["with line breaks that are meant", "Roses  \nare\\\nred\nand", "Roses\n\nare\n\nred\nand"],
    ["with indented text", "    code?", "code?"],
    [
      "with pauses as ends of sentences",
      "One [pause:1.5s] two[pause: 300ms]three `[pause:1s]`",
      "One\n\ntwo\n\nthree [pause:1s]",
    ],
    [
      "with signs that are no markup",
      "2 * 3 * 4, a_b_c, 5 > 4, [pause:long] *",
      "2 * 3 * 4, a_b_c, 5 > 4, [pause:long] *",
    ],
    ["after a byte order mark", "\ufeff# Hi", "Hi"],
    ["as nothing, if it has only markup", "***\n\n[a]: b\n\n```\nx\n```", ""],
  ] as const) {
    it(rule, () => {
      expect(plain(source)).to.equal(expected);
    });
  }

  it("as a document with pauses, for voices that take one", () => {
    const read = readMarkdown("[pause:.5s]Tom & *Jo* [pause:1.5S] went.")(true);
    expect([read.ssml, read.document]).to.deep.equal([
      true,
      '<speak><break time="0.5s"/>Tom &amp; Jo<break time="1.5s"/> went.</speak>',
    ]);
    expect(readMarkdown("no *pause*")(true)).to.include({ ssml: false, document: "no pause" });
  });

  it("with the marks of words where they are written", () => {
    const source = "# Big **new** *c*ity\n\n- [one](http://two.three) &amp; four";
    const { document: text, replacements: reading } = readMarkdown(source)(false);
    const spoken = spokenOf({ text, ssml: false, original: source, reading });
    expect(spoken.characters.join("")).to.equal(text);
    const events = Array.from(
      text.matchAll(/\S+/g),
      ({ index }) => ({ kind: "word", at: index, seconds: index }) as const,
    );
    expect(placeMarks(spoken, events, "en").map((mark) => wordAt(source, mark))).to.deep.equal([
      ...["Big", "new", "c*ity", "one", "&amp;", "four"],
    ]);
  });

  const signs =
    "* ** _ ` ``` # - 1. > | |- [ ] ( ) ! [^1] : < > </b> <!-- & &amp; \\ ~~ = === [pause:1s] [pause:2ms] a b é 🙂 \ufeff \u0000".split(
      " ",
    );
  const sources = fc
    .array(fc.constantFrom(...signs, " ", "  ", "\n", "\n\n", "\r\n", "\t", "    "), { maxLength: 60 })
    .map((parts) => parts.join(""));

  it("so that its replacements make the text that is read, whatever it is", () => {
    fc.assert(
      fc.property(sources, fc.boolean(), (source, takesSsml) => {
        const { document, ssml, replacements: reading } = readMarkdown(source)(takesSsml);
        const spoken = spokenOf({ text: document, ssml, original: source, reading }).characters.join("");
        if (!ssml) expect(spoken).to.equal(document);
        else {
          expect(isSsml(document)).to.equal(true);
          const said: string[] = [];
          try {
            parseSsml(document, (words) => {
              said.push(words);
              return "";
            });
          } catch {
            return; // it has pauses alone
          }
          expect(spoken).to.equal(said.join(""));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  const pairs = [
    ...[
      ["![", "](b)_"],
      ["- ", "a\n"],
      ["> ", "a\n"],
      ["[", "]"],
      ["*a b ", "a* b "],
      ["|a", "\n|-|-"],
    ],
  ] as const;

  it("in time that does not explode with 5,000 nested or unfinished signs", () => {
    for (const sign of signs.flatMap((one) => [one, `${one} `, `${one}a`, `${one}\n`]))
      plain(sign.repeat(Math.ceil(5_000 / sign.length)).slice(0, 5_000));
    for (const [one, other] of pairs)
      plain(one.repeat(2_500 / one.length) + other.repeat(2_500 / other.length));
  });
});
