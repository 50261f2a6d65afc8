import { execFileSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { espeak } from "../../../src/engines/local/espeak.ts";
import { mnemonicsOf } from "../../../src/engines/local/espeak-phonemes.ts";
import type { EspeakJob } from "../../../src/subprocess/jobs.ts";
import { duringSuite } from "../../support/during.ts";
import { openToolHost } from "../../support/tool-host.ts";

const words: Readonly<Record<string, string>> = {
  "gmw/en-US":
    "hello tomato water little nurse near poor square happy thing this church judge measure goat price mouth choice",
  "gmw/en":
    "hello tomato water little bottle nurse near poor square happy thing this church judge measure goat price mouth",
  "gmw/de":
    "Straße schön Buch Kind müssen Höhle Männer Zeit Haus neu Pferd Mutter Bier Tür Bär Genie ich Beamter Auto Mädchen",
  "roa/fr":
    "bonjour vin un banc père été peur peu lune beau mort fille oui gagner chat rouge fenêtre maison garçon chien",
  "roa/es":
    "niño llave perro pero ciudad gente jamón yo queso guerra huevo chico bueno vaca dado lago rosa mañana",
  "roa/it":
    "caro pizza bello gnocchi figlio mezzo città anno casa uomo perché scienza cielo gente zio ciao chiesa ghetto",
};

/** What espeak-ng prints for each word: its IPA. */
const ipaOf = (voice: string, all: readonly string[]): string[] =>
  execFileSync("espeak-ng", ["-v", voice, "-q", "--ipa", "--stdin"], {
    input: all.map((word) => `${word}.\n\n`).join(""),
  })
    .toString()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

describe("espeak-ng's mnemonics of phonemes", () => {
  for (const [voice, list] of Object.entries(words)) {
    it(`give the same IPA again: ${voice}`, () => {
      const ipa = ipaOf(voice, list.split(" "));
      const mnemonics = ipa.map((word) => mnemonicsOf(word, voice));
      expect(mnemonics).not.to.include(undefined);
      expect(
        ipaOf(
          voice,
          mnemonics.map((word) => `[[${word}]]`),
        ),
      ).to.deep.equal(ipa);
    });
  }

  it("are unknown for other languages and other signs", () => {
    expect(mnemonicsOf("ha", "zle/ru")).to.equal(undefined);
    expect(mnemonicsOf("ʘ", "gmw/en")).to.equal(undefined);
    expect(mnemonicsOf("ha]] x", "gmw/en")).to.equal(undefined);
    expect(mnemonicsOf("  ", "gmw/en")).to.equal(undefined);
  });
});

describe("What espeak-ng is asked for", () => {
  const host = duringSuite(openToolHost);

  it("has no phonemes but those of the table, whatever a document contains", async () => {
    const tool = await espeak(host);
    if (!tool) throw new Error("espeak-ng is not installed");
    const parts = fc.constantFrom(
      ...["[", "]", "[[", "]]", "&#91;", "&#x5b;", "\u200b", "a", " ", "'"],
      ...['<phoneme alphabet="ipa" ph="ha">x</phoneme>', '<phoneme alphabet="ipa" ph="&#91;">x</phoneme>'],
      ...['<phoneme alphabet="ipa" ph="ʘ">[</phoneme>', "<p>[", "</p>", '<sub alias="[[">x</sub>'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 8 }), async (all) => {
        let text: string;
        try {
          text = parseSsml(`<speak>a${all.join("")}</speak>`);
        } catch {
          return;
        }
        const prosody = { pitch: 1, rate: 1, volume: 1 };
        const request = { text, ssml: true, voice: "gmw/en", lang: "en-GB", prosody, format: "wav" } as const;
        const { input = "", phonemes } = tool.pieceFor(request).job as EspeakJob;
        const commands = input.match(/\[\p{Cf}*\[[^\]]*\]?\]?/gu) ?? [];
        expect(commands.filter((one) => one !== "[[h'a]]")).to.deep.equal([]);
        expect(phonemes ?? false).to.equal(commands.length > 0);
      }),
      { numRuns: 500 },
    );
  });
});
