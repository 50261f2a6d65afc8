import { expect } from "chai";
import { prepare } from "../../../../src/domain/text/preparation/prepare.ts";

const prepared = (text: string, lang: string): string =>
  prepare({ text, ssml: false }, () => ({ tool: "pico", lang }))
    .runs.map((run) => run.text)
    .join("");

const cases: readonly (readonly [lang: string, text: string, written: string])[] = [
  ["de-DE", "Es kostet 1.234.567 Taler.", "Es kostet 1.234.567 Taler."],
  ["de-DE", "Es kostet 1234567,50 Taler.", "Es kostet 1.234.567,50 Taler."],
  ["fr-FR", "Il y a 12 345 678 habitants.", "Il y a 12.345.678 habitants."],
  ["es-ES", "Llame al 012345678.", "Llame al 012345678 ."],
  ["en-GB", "It counts 1234567 items.", "It counts 1,234,567 items."],
  ["en-GB", "Wait… what?", "Wait. what?"],
  ["en-GB", "Yes — no – maybe -- so", "Yes - no - maybe - so"],
  ["fr-FR", "L’eau du “Niño”", `L'eau du "Nino"`],
  ["de-DE", "Œuvre aus Łódź", "OEuvre aus Lódz"],
  ["it-IT", "perché è così", "perché è così"],
  ["en-GB", "a <b> c", "a less than b> c"],
];

describe("The preparation of texts for Pico", () => {
  for (const [lang, text, written] of cases) {
    it(`writes “${text}” as “${written}” in ${lang}`, () => {
      expect(prepared(text, lang).replace(/ +/g, " ").trim()).to.equal(written);
    });
  }
});
