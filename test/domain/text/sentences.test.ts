import { expect } from "chai";
import fc from "fast-check";
import { createIncomingText } from "../../../src/application/synthesis/incoming-text.ts";
import { textParts } from "../../../src/client/text-parts.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { splitText } from "../../../src/domain/text/pieces.ts";
import { completeSentencesOf, sentencesOf } from "../../../src/domain/text/sentences.ts";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { splitSsml } from "../../../src/domain/text/ssml-pieces.ts";
import { plainRun } from "../../../src/domain/text/ssml-runs.ts";
import { escapeXml } from "../../../src/domain/text/xml.ts";
import { localPieces } from "../../../src/engines/local/local-pieces.ts";
import type { LocalTool, LocalVoice } from "../../../src/engines/local/local-tool.ts";
import { captionMarks } from "../../../src/engines/openai/captions.ts";
import { hardSentences } from "./hard-sentences.ts";

type Split = (text: string, lang: string) => string[];

const length = (text: string): number => text.length;
/** A piece ends with its sentence. */
const bySentence = { measure: length, max: 5_000, target: () => 1 };

/** A voice of a tool that speaks one sentence at a time. */
const voiceIn = (lang: string): LocalVoice => ({
  tool: { cost: length, bySentence: true } as unknown as LocalTool,
  ...{ name: "", lang, gain: 1 },
});

/** All places that split a text between all of its sentences. */
const places: Readonly<Record<string, Split>> = {
  "the splitter": sentencesOf,
  "providers, whole texts": (text, lang) => splitText(text, lang, bySentence),
  "providers, SSML documents": (text, lang) =>
    splitSsml(parseSsml(`<speak>${escapeXml(text)}</speak>`), lang, bySentence).map((piece) =>
      piece.replace(/<[^>]*>/g, "").replaceAll("&amp;", "&"),
    ),
  "local engines": (text, lang) =>
    localPieces([plainRun(text)], normalProsody, () => voiceIn(lang)).map((piece) => piece.text),
};

/** Places that join short sentences: each sentence comes first once. */
const firstPieces: Readonly<Record<string, (text: string, lang: string, first: string) => string>> = {
  "streams and Wyoming": (text, lang) => {
    const incoming = createIncomingText(lang);
    const pieces = [...[...text].flatMap((character) => incoming.add(character)), ...incoming.end()];
    return pieces[0] ?? "";
  },
  "the client library": (text, lang, first) =>
    textParts(text, { lang, maxLength: first.length, findSentences: sentencesOf })[0]?.text ?? "",
};

const request = { ssml: false, voice: "", prosody: normalProsody, format: "wav" } as const;

describe("Hard sentences", () => {
  it("are a list of at least 150 texts in at least 12 languages", () => {
    expect(hardSentences.length).to.be.at.least(150);
    expect(new Set(hardSentences.map(([lang]) => lang)).size).to.be.at.least(12);
  });

  for (const [lang, marked] of hardSentences) {
    const sentences = marked.split("|");
    const text = sentences.join("");
    describe(`${lang}: ${JSON.stringify(marked)}`, () => {
      for (const [place, split] of Object.entries(places)) {
        it(`are told apart by ${place}`, () => {
          const normalized = place.includes("SSML") ? (one: string) => one.replace(/\r\n?/g, "\n") : String;
          expect(split(text, lang)).to.deep.equal(sentences.map(normalized));
        });
      }

      for (const [place, firstOf] of Object.entries(firstPieces)) {
        it(`are told apart by ${place}`, () => {
          for (const [index, sentence] of sentences.entries()) {
            const rest = sentences.slice(index).join("");
            expect(firstOf(rest, lang, sentence).trim()).to.equal(sentence.trim());
          }
        });
      }

      it("are told apart in the marks of captions", () => {
        const spoken = Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), ({ 0: word, index }) => {
          return { word, seconds: index };
        });
        const marks = captionMarks({ ...request, text, lang }, spoken);
        const begun = marks
          .filter(({ type }) => type === "sentence")
          .map(({ start, end }) => {
            return Array.from(text).slice(start, end).join("").trim();
          });
        expect(begun).to.deep.equal(sentences.map((sentence) => sentence.trim()));
      });
    });
  }
});

describe("Sentences", () => {
  const texts = fc
    .array(
      fc.constantFrom(
        ..."Dr. |z. B. |3. |A|a|. |.|\n|\n\n|- |1. |»|“|… |你。|U.S. |The |! |\r\n|\u2029|No".split("|"),
      ),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join(""));
  const langs = fc.constantFrom("en", "de", "fr", "zh", "el", "xx");

  it("join to the text", () => {
    fc.assert(
      fc.property(texts, langs, (text, lang) => {
        expect(sentencesOf(text, lang).join("")).to.equal(text);
      }),
    );
  });

  it("that are complete stay the same whatever follows", () => {
    fc.assert(
      fc.property(texts, texts, langs, (text, more, lang) => {
        const complete = completeSentencesOf(text, lang);
        expect(sentencesOf(text + more, lang).slice(0, complete.length)).to.deep.equal(complete);
      }),
      { numRuns: 500 },
    );
  });
});
