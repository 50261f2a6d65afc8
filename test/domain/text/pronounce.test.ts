import { expect } from "chai";
import type { LexiconRules } from "../../../src/domain/lexicons/lexicon-rules.ts";
import { compileLexicon, createFindReplacements } from "../../../src/domain/lexicons/replacements.ts";
import { isSsml } from "../../../src/domain/text/is-ssml.ts";
import { placeMarks } from "../../../src/domain/text/place-marks.ts";
import { pronounce } from "../../../src/domain/text/pronounce.ts";
import { spokenText, withReplacements } from "../../../src/domain/text/spoken-text.ts";
import { wordAt } from "../../support/word-at.ts";

const find = createFindReplacements(
  (
    [
      {
        rules: [
          { grapheme: "W3C", alias: "World Wide Web Consortium" },
          { grapheme: "<b>", alias: "bold & <i>" },
          { grapheme: "etc.", alias: "and so on" },
          { grapheme: "tomato", phoneme: 'tə"ˈmɑːtəʊ', alphabet: "ipa" },
        ],
      },
      { lang: "fr", rules: [{ grapheme: "chat", alias: "minou" }] },
    ] satisfies LexiconRules[]
  ).map(compileLexicon),
);
const spoken = (text: string, takesPhonemes = false) =>
  pronounce({ text, ssml: isSsml(text) }, find, { lang: "en", takesPhonemes });

describe("a text with the replacements of lexicons", () => {
  it("is undefined if nothing is replaced", () => {
    expect(spoken("A chat about a tomato.")).to.equal(undefined);
    expect(spoken("<speak>A chat about a tomato.</speak>")).to.equal(undefined);
  });

  it("stays plain with aliases, and is SSML with phonemes", () => {
    expect(spoken("W3C <b> tomato &")).to.deep.include({
      document: "World Wide Web Consortium bold & <i> tomato &",
      ssml: false,
    });
    expect(spoken("W3C <b> tomato\u0000 &", true)).to.deep.include({
      document:
        '<speak>World Wide Web Consortium bold &amp; &lt;i&gt; <phoneme alphabet="ipa" ph="tə&quot;ˈmɑːtəʊ">tomato</phoneme> &amp;</speak>',
      ssml: true,
    });
  });

  it("keeps the pronunciations that a document gives", () => {
    const fixed =
      '<say-as interpret-as="characters">W3C</say-as> <phoneme alphabet="ipa" ph="x">W3C</phoneme> <sub alias="W3C">it</sub>';
    const document = spoken(`<speak>${fixed} &#60;b> W3C</speak>`)?.document;
    expect(document).to.equal(
      '<speak><say-as interpret-as="characters">W3C</say-as> <phoneme alphabet="ipa" ph="x">W3C</phoneme> W3C bold &amp; &lt;i&gt; World Wide Web Consortium</speak>',
    );
  });

  it("uses the lexicons of the language that a part of a document is in", () => {
    expect(spoken('<speak>chat <lang xml:lang="fr-FR"><s>chat</s></lang> chat</speak>')?.document).to.equal(
      '<speak>chat <lang xml:lang="fr-FR"><s>minou</s></lang> chat</speak>',
    );
  });

  it("has as many spoken characters as its document, each with its place in the text", () => {
    for (const text of [
      "\u{1F642} W3C, tomato etc.\n<b>",
      "<speak><!-- W3C --><p>W3C &amp; <![CDATA[W3C <b>]]></p> <sub alias='W3C'>x</sub><s>etc.</s>\u{1F642}</speak>",
    ]) {
      for (const takesPhonemes of [false, true]) {
        const { document = "", ssml = false, replacements = [] } = spoken(text, takesPhonemes) ?? {};
        const whole = withReplacements(spokenText(text, isSsml(text)), replacements);
        expect(whole.characters.join("")).to.equal(spokenText(document, ssml).characters.join(""));
        const source = Array.from(text);
        whole.characters.forEach((_, at) => {
          const [from, to] = [whole.replaced?.from[at] ?? 0, whole.replaced?.to[at] ?? 0];
          const written = spokenText(text, isSsml(text)).characters.slice(from, to).join("");
          const place = source.slice(whole.starts[at], whole.ends[at]).join("");
          if (!/[&<]/.test(text.slice(0, 1) + place)) expect(place).to.equal(written);
        });
      }
    }
  });

  it("has one mark for all words of an alias, with the word that was sent", () => {
    const text = "The W3C-like W3C etc. end";
    const { document = "", replacements = [] } = spoken(text) ?? {};
    const words = [...document.matchAll(/[^ ]+/g)].map(({ index }) => index);
    const events = words.map((at) => ({ kind: "word", at, seconds: at / 10 }) as const);
    const marks = placeMarks(withReplacements(spokenText(text, false), replacements), events, "en");
    expect(marks.map((mark) => [mark.time, wordAt(text, mark), mark.start, mark.end])).to.deep.equal([
      [0, "The", 0, 3],
      [400, "W3C-like", 4, 12],
      [3500, "W3C", 13, 16],
      [6100, "etc.", 17, 21],
      [7100, "end", 22, 25],
    ]);
  });
});
