import { expect } from "chai";
import { Invalid } from "../../../../src/domain/errors.ts";
import { prepare } from "../../../../src/domain/text/preparation/prepare.ts";
import type { Reader } from "../../../../src/domain/text/preparation/reader.ts";
import { parseSsml } from "../../../../src/domain/text/ssml.ts";

const espeak: Reader = { tool: "espeak", lang: "en-US" };
const prepared = (document: string, reader: Reader = espeak) =>
  prepare({ text: parseSsml(document), original: document, ssml: true }, ({ lang = reader.lang }) => ({
    ...reader,
    lang,
  }));
const read = (attributes: string, content: string, reader?: Reader): string =>
  prepared(`<speak><say-as ${attributes}>${content}</say-as></speak>`, reader)
    .runs.map(({ text }) => text)
    .join("|");
const refusal = (attributes: string, content: string, lang = "en-US"): string => {
  try {
    return `it was read: ${read(attributes, content, { tool: "espeak", lang })}`;
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    expect(error.problems.map(({ path }) => path)).to.deep.equal([["text"]]);
    return error.message;
  }
};

describe("The words of a say-as", () => {
  for (const [attributes, content, lang] of [
    ['interpret-as="date" format="dmy"', "13/13/2026", "en-US"],
    ['interpret-as="date" format="mdy"', "30/2/2026", "en-US"],
    ['interpret-as="date" format="md"', "1/2/3", "en-US"],
    ['interpret-as="date" format="x"', "1/2/3", "en-US"],
    ['interpret-as="ordinal"', "3.5", "en-US"],
    ['interpret-as="time"', "1:2:3:4", "en-US"],
    ['interpret-as="fraction"', "1-2", "en-US"],
  ] as const) {
    it(`are refused if they are of another kind: ${attributes} ${content}`, () => {
      expect(refusal(attributes, content, lang))
        .to.contain("not of this kind")
        .and.not.contain(content);
    });
  }

  for (const [attributes, content, lang] of [
    ['interpret-as="ordinal"', "3", "ru-RU"],
    ['interpret-as="date" format="dmy"', "3/4/2026", "jbo"],
    ['interpret-as="currency"', "USD 3", "jbo"],
    ['interpret-as="currency"', "QQQ 3", "en-US"],
  ] as const) {
    it(`are refused if the language has no words for them: ${attributes} ${content} in ${lang}`, () => {
      expect(refusal(attributes, content, lang)).to.contain(`cannot be read in the language ${lang}`);
    });
  }

  it("are refused as an expletive, which nothing replaces", () => {
    expect(refusal('interpret-as="expletive"', "darn")).to.contain("expletive");
  });

  it("are read as they are if they are words already, or the kind is a mere hint", () => {
    for (const [kind, content] of [
      ["date", "March the fourth"],
      ["ordinal", "third"],
      ["time", "noon"],
      ["name", "Ann 2"],
      ["address", "12 Main Street"],
      ["cardinal", "twelve"],
    ]) {
      expect(read(`interpret-as="${kind}"`, content ?? "")).to.equal(content);
    }
  });

  it("keep all digits of a number", () => {
    const german: Reader = { tool: "espeak", lang: "de-DE" };
    const digits = "12345678901234567891";
    const digitsOf = (attributes: string, content: string): string =>
      read(attributes, content, german).replace(/[^\d]/g, "");
    expect(digitsOf('interpret-as="unit"', `${digits} kg`)).to.equal(digits);
    expect(digitsOf('interpret-as="currency"', `USD ${digits}`)).to.equal(digits);
    const more = "9".repeat(400);
    for (const [kind, content] of [
      ["unit", `${more} kg`],
      ["currency", `USD ${more}`],
    ])
      expect(digitsOf(`interpret-as="${kind}"`, content ?? ""), kind).to.equal(more);
  });

  it("are named character by character by espeak-ng itself", () => {
    for (const kind of ["characters", "spell-out", "verbatim"])
      expect(read(`interpret-as="${kind}"`, "a-1")).to.equal(
        '<speak><say-as interpret-as="characters">a-1</say-as></speak>',
      );
  });

  it("are capital letters and names of signs for tools that take plain texts", () => {
    const flite: Reader = { tool: "flite", lang: "en-US" };
    expect(read('interpret-as="characters"', "a-1 b.c", flite)).to.equal("A dash 1 B dot C");
  });

  it("keep their places in the document", () => {
    const document = '<speak>On <say-as interpret-as="date" format="dmy">4/3/2026</say-as> we go.</speak>';
    const { spoken } = prepared(document);
    const at = spoken.characters.join("").indexOf("March");
    expect(document.slice(spoken.starts[at], spoken.ends[at])).to.equal("4/3/2026");
    const last = spoken.characters.join("").lastIndexOf("we");
    expect(document.slice(spoken.starts[last], spoken.ends[last + 1])).to.equal("we");
  });

  it("have dates of all formats in the words of the language", () => {
    for (const [format, content, lang, words] of [
      ["mdy", "11/26/2026", "de-DE", "26. November 2026"],
      ["ymd", "26.11.26", "es-ES", "26 de noviembre de 2026"],
      ["dm", "26.11.", "fr-FR", "26 novembre"],
      ["ym", "2026-11", "it-IT", "novembre 2026"],
      ["y", "1999", "pt-BR", "1999"],
      ["dmy", "26.11.2026", "pl-PL", "26 listopada 2026"],
    ] as const) {
      const said = read(`interpret-as="date" format="${format}"`, content, { tool: "sherpa", lang });
      expect(said.replace("sechsundzwanzigster", "26.")).to.equal(words);
    }
  });
});
