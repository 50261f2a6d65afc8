import { expect } from "chai";
import { prepare } from "../../src/domain/text/preparation/prepare.ts";
import type { Reader } from "../../src/domain/text/preparation/reader.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { FrontEnd } from "../../src/natural/phonemes.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { needsEnglishData, openEnglish } from "../natural/english/installed.ts";
import { openPico, sayWithPico } from "../support/pico.ts";
import type { Pair } from "../support/same-sound.ts";
import { openToolHost } from "../support/tool-host.ts";
import { american, british } from "./english.ts";
import { hardSentences } from "./hard-sentences.ts";
import { signsAndNumbers } from "./signs.ts";

const english: readonly Pair[] = [...hardSentences, ...(signsAndNumbers["en-GB"] ?? [])];

const prepared = (text: string, lang: string, tool: Reader["tool"]): string =>
  prepare({ text, ssml: false }, () => ({ lang, tool }))
    .runs.map((run) => run.text)
    .join("");

describe("Hard texts and the same in words, with hibari", () => {
  before(function () {
    needsEnglishData(this);
  });

  const spoken = async (frontEnd: FrontEnd, text: string, lang: string): Promise<string> =>
    (await frontEnd.read(prepared(text, lang, "hibari")))
      .map((sentence) => sentence.map(({ phonemes }) => phonemes).join(""))
      .join("|");

  /** House numbers are read in full, and Americans say no "and" within a number. */
  const others: Readonly<Record<string, readonly string[]>> = {
    us: ["He lives at 221B Baker St.", "451 °F"],
    gb: ["He lives at 221B Baker St."],
  };

  for (const [accent, lang, own] of [
    ["us", "en-US", american],
    ["gb", "en-GB", british],
  ] as const) {
    it(`have the same phonemes with the accent ${accent}`, async () => {
      const frontEnd = await openEnglish(accent);
      const differing: string[] = [];
      for (const [text, words] of [...english, ...own])
        if ((await spoken(frontEnd, text, lang)) !== (await spoken(frontEnd, words, lang)))
          differing.push(text);
      expect(differing).to.deep.equal(others[accent]);
    });
  }
});

/**
 * Pico reads these in the same words with another intonation, because digits are no words to it,
 * nor are letters alone an acronym.
 */
const otherIntonation: ReadonlySet<string> = new Set([
  "Read ch. 4 first.",
  "Now 7 - 3 = 4.",
  "Now 2 + 2 = 4.",
  "There were 1,000,000 people.",
  "The vote was 52 to 48.",
  "Buy 2, get 1 free.",
  "The M25 is closed.",
  "See pp. 10–12 and Fig. 4.",
  "√16 = 4",
  "Ca. 300 people came.",
  "The U.N. met in the U.S.A.",
  "12 ÷ 4",
  "10\u202f000 people",
  "10\u00a0000 people",
  "10 000 people",
  "10’000 people",
  "① one ② two",
  "Das kostet 1,50 €.",
  "−5 °C",
  "le 2ᵉ étage, la 1re fois",
]);

/** Pico reads the house number as a number. */
const otherWords = "He lives at 221B Baker St.";

/**
 * What Pico read otherwise: acronyms with full stops, which took seconds, formulas, and the number
 * sign.
 */
const ofPico: Readonly<Record<string, readonly Pair[]>> = {
  "en-GB": [
    ["The F.B.I. met the B.B.C. now.", "The F B I met the B B C now."],
    ["Open report.pdf, it has H2O.", "Open report dot PDF, it has H 2 O ."],
    ["It burned in A.D. 70.", "It burned in ay D seventy."],
  ],
  "de-DE": [
    ["Die U.S.A. sind groß.", "Die USA sind groß."],
    ["Es sind 50!", "Es sind 50."],
  ],
  "fr-FR": [
    ["le #1 ici", "le numéro 1 ici"],
    ["Suivez #paris.", "Suivez dièse paris."],
  ],
  "es-ES": [
    ["el #1 aquí", "el número 1 aquí"],
    ["La O.N.U. es", "La O N U es"],
  ],
  "it-IT": [
    ["il #1 qui", "il numero 1 qui"],
    ["La C.G.I.L. è", "La C G I L è"],
  ],
};

describe("Hard texts and the same in words, with Pico", () => {
  let host: SubprocessHost;
  let engine: Engine;
  before(async function () {
    host = await openToolHost();
    const opened = await openPico(host);
    if (!opened) return this.skip(); // scripts/natural-voices installs it
    engine = opened;
  });
  after(() => host.close());

  for (const lang of Object.keys(ofPico)) {
    const pairs = lang === "en-GB" ? [...english, ...british] : (signsAndNumbers[lang] ?? []);
    it(`have the same samples in ${lang}`, async () => {
      for (const [text, words] of [...pairs, ...(ofPico[lang] ?? [])]) {
        if (text === otherWords || prepared(text, lang, "pico") === prepared(words, lang, "pico")) continue;
        const [written, spelled] = await Promise.all(
          [text, words].map(async (one) => (await sayWithPico(engine, lang, one)).samples),
        );
        if (!written || !spelled) throw new Error(text);
        if (otherIntonation.has(text)) expect(written.length / spelled.length, text).to.be.within(0.9, 1.1);
        else expect(Buffer.from(written.buffer).equals(Buffer.from(spelled.buffer)), text).to.equal(true);
      }
    });
  }
});
