import { expect } from "chai";
import { readPls } from "../../../src/application/lexicons/read-pls.ts";
import type { Invalid } from "../../../src/domain/errors.ts";

const lexicon = (content: string, attributes = 'alphabet="ipa" xml:lang="en-GB"'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" ${attributes}>${content}</lexicon>`;

const problemsOf = (xml: string): string[] => {
  try {
    readPls(xml);
    return [];
  } catch (error) {
    return (error as Invalid).problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
  }
};

describe("a PLS document", () => {
  it("becomes a rule for each grapheme, with the language of the lexicon", () => {
    const xml = lexicon(`
      <meta name="author" content="x"/>
      <metadata><x:y xmlns:x="urn:x"><lexeme/></x:y></metadata>
      <lexeme xml:id="one"><grapheme>W3C</grapheme><grapheme>w3c</grapheme><alias>World Wide Web Consortium</alias></lexeme>
      <!-- the vegetable -->
      <lexeme><grapheme>to&#109;ato</grapheme><phoneme> təˈmɑːtəʊ </phoneme><example>A tomato.</example></lexeme>
      <lexeme><grapheme><![CDATA[AT&T]]></grapheme><alias>A T and T</alias></lexeme>`);
    expect(readPls(xml)).to.deep.equal({
      lang: "en-GB",
      rules: [
        { grapheme: "W3C", alias: "World Wide Web Consortium" },
        { grapheme: "w3c", alias: "World Wide Web Consortium" },
        { grapheme: "tomato", phoneme: "təˈmɑːtəʊ", alphabet: "ipa" },
        { grapheme: "AT&T", alias: "A T and T" },
      ],
    });
  });

  it("is read without a namespace prefix, with one, and without a namespace", () => {
    const rules = [{ grapheme: "a", alias: "b" }];
    const prefixed = `<p:lexicon xmlns:p="http://www.w3.org/2005/01/pronunciation-lexicon" xml:lang="en"><p:lexeme>
      <p:grapheme>a</p:grapheme><p:alias>b</p:alias></p:lexeme></p:lexicon>`;
    expect(readPls(prefixed).rules).to.deep.equal(rules);
    const bare = `<lexicon xml:lang="en"><lexeme><grapheme>a</grapheme><alias>b</alias></lexeme></lexicon>`;
    expect(readPls(bare).rules).to.deep.equal(rules);
  });

  it("gives the preferred pronunciation, else the first; a phoneme keeps the first alias for other voices", () => {
    const of = (pronunciations: string) =>
      readPls(lexicon(`<lexeme><grapheme>a</grapheme>${pronunciations}</lexeme>`)).rules[0];
    expect(of("<phoneme>x</phoneme><phoneme>y</phoneme><alias>z</alias>")).to.deep.equal({
      grapheme: "a",
      phoneme: "x",
      alphabet: "ipa",
      alias: "z",
    });
    expect(of('<phoneme>x</phoneme><phoneme prefer="true" alphabet="x-sampa">y</phoneme>')).to.deep.equal({
      grapheme: "a",
      phoneme: "y",
      alphabet: "x-sampa",
    });
    expect(of('<phoneme>x</phoneme><alias prefer="true">z</alias>')).to.deep.equal({
      grapheme: "a",
      alias: "z",
    });
  });

  it("is refused with the place of the error", () => {
    const lexeme = "<lexeme><grapheme>a</grapheme><alias>b</alias></lexeme>";
    expect(problemsOf(lexicon(`${lexeme}<lexeme><grapheme>a</grapheme></lexeme>`))).to.deep.equal([
      "lexeme.2: A lexeme needs an alias or a phoneme.",
    ]);
    expect(problemsOf(lexicon("<lexeme><alias>a</alias></lexeme>"))).to.deep.equal([
      "lexeme.1: A lexeme needs a grapheme.",
    ]);
    const long = `<lexeme><grapheme>a</grapheme><grapheme>b</grapheme><alias>${"x".repeat(501)}</alias></lexeme>`;
    const tooLong = problemsOf(lexicon(lexeme + long));
    expect(tooLong.map((problem) => problem.split(":")[0])).to.deep.equal([
      "lexeme.2.alias",
      "lexeme.2.alias",
    ]);
    expect(problemsOf(lexicon(lexeme, 'alphabet="ipa"'))[0]).to.include("xml:lang");
    expect(problemsOf(lexicon(lexeme.replace("<lexeme>", '<lexeme role="n">')))[0]).to.match(/role.*line 2/);
    expect(problemsOf(lexicon("<lexeme><audio/></lexeme>"))[0]).to.match(/not allowed in <lexeme> \(line 2/);
    expect(problemsOf("<lexicon")[0]).to.include("not well-formed");
    expect(problemsOf("<speak/>")[0]).to.include("begins with <lexicon>");
    const other = '<lexeme><grapheme>a</grapheme><phoneme alphabet="x-acme">b</phoneme></lexeme>';
    expect(problemsOf(lexicon(other))).to.deep.equal([
      "lexeme.1.alphabet: The alphabet of a phoneme must be ipa or x-sampa.",
    ]);
  });

  it("has no DOCTYPE and no entities", () => {
    const bomb = '<!DOCTYPE lexicon [<!ENTITY a "x">]>';
    expect(problemsOf(bomb + lexicon("").slice(38))[0]).to.include("DOCTYPE");
    expect(problemsOf(lexicon("<lexeme><grapheme>&a;</grapheme></lexeme>"))[0]).to.include("not well-formed");
  });

  it("is refused early if it has too many lexemes", () => {
    expect(problemsOf(lexicon("<lexeme/>".repeat(1_001)))[0]).to.include("at most 1000 lexemes");
  });
});
