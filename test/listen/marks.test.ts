import { expect } from "chai";
import type { Engine } from "../../src/engines/engine.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { alignSpeech } from "../support/listening/align.ts";
import { openNaturalEngine, sayNaturally } from "../support/natural-engine.ts";
import { openToolHost } from "../support/tool-host.ts";
import { medianOf } from "../support/word-onsets.ts";
import { naturalSentences } from "./natural-sentences.ts";

/**
 * Natural voices, and the voice of espeak-ng that reads the same words. Its marks are those of its
 * own samples.
 */
const voices = [
  { voice: "hibari:heart", lang: "en-US", other: "espeak:gmw/en-US" },
  { voice: "pico:en-GB", lang: "en-GB", other: "espeak:gmw/en-GB-x-rp" },
  { voice: "pico:de-DE", lang: "de-DE", other: "espeak:gmw/de" },
  { voice: "pico:fr-FR", lang: "fr-FR", other: "espeak:roa/fr" },
  { voice: "pico:es-ES", lang: "es-ES", other: "espeak:roa/es" },
  { voice: "pico:it-IT", lang: "it-IT", other: "espeak:roa/it" },
] as const;

/** What people write besides words, with the words that have marks. */
const written: Readonly<Record<string, readonly string[]>> = {
  "en-US": [
    "Dr.|Smith|paid|$5.50|for|3 kg|of|apples|at|3:45|p.m.",
    "“Well,”|she|said|— rather|loudly|— “that’s|it!”",
    "On|5 March 2026|we|drove|120 km|to|No.|10|Downing|St.",
    "The|U.S.A.|won|52–48,|i.e.|by|a|small|margin|🙂|today.",
    "Call|+1 555 123 4567|or|write|to|bob@example.com,|please.",
    "Prices|rose|3.14%|(again)|in|Q2,|e.g.|for|€1,000|phones.",
    "Salt|&|pepper,|please;|the|rest|isn't|needed.",
  ],
  "de-DE": ["Dr.|Schmidt|zahlte|5,50 €|für|3|kg|Äpfel.", "„Gut“,|sagte|sie|– recht|laut|– „das|war’s!“"],
  "fr-FR": [
    "Le|Dr|Martin|a|payé|5,50 €|pour|3|kg|de|pommes.",
    "« Bon »,|dit-elle|— assez|fort|— « c’est|fini ! »",
  ],
  "es-ES": ["El|Dr.|García|pagó|5,50 €|por|3|kg|de|manzanas.", "¿Qué|dice|el|capítulo|IV|sobre|1914-1918?"],
  "it-IT": [
    "Il|dott.|Rossi|ha|pagato|5,50 €|per|3|kg|di|mele.",
    "«Bene»,|disse|lei|— piuttosto|forte|— «è|finita!»",
  ],
};

/** Signs around a word, which its mark leaves out. */
const around = /^[\s\p{P}]+|(?<![%&])[\s\p{P}]+$/gu;

describe("Marks of natural voices", () => {
  let host: SubprocessHost;
  let engine: Engine;
  before(async function () {
    host = await openToolHost();
    const opened = await openNaturalEngine(
      host,
      voices.map(({ voice }) => voice),
    );
    if (!opened) return this.skip(); // scripts/natural-voices installs them
    engine = opened;
  });
  after(() => host.close());

  const say = async (voice: string, lang: string, text: string, prosody: object = {}) => {
    const spoken = await sayNaturally(engine, { voice, lang, text, ...prosody });
    return { ...spoken, words: spoken.marks.filter(({ type }) => type === "word") };
  };

  for (const { voice, lang, other } of voices) {
    /** Milliseconds from where the words of sentences are heard to their marks. */
    const errorsAt = async (rate: number, sentences: readonly string[]): Promise<number[]> => {
      const errors: number[] = [];
      for (const text of sentences) {
        const [spoken, known] = [
          await say(voice, lang, text, { rate }),
          await say(other, lang, text, { rate }),
        ];
        const placeOf = alignSpeech(known, spoken);
        for (const { start, time } of spoken.words) {
          const same = known.words.find((word) => word.start === start);
          if (same) errors.push(time - 1000 * placeOf(same.time / 1000));
        }
      }
      return errors;
    };
    const quantile = (errors: readonly number[], part: number): number =>
      errors.map(Math.abs).toSorted((a, b) => a - b)[Math.floor(part * (errors.length - 1))] ?? Number.NaN;

    it(`are within 80 ms of 95 % of the words, by alignment with another engine's speech: ${voice}`, async () => {
      const errors = await errorsAt(1, (naturalSentences[lang] ?? []).slice(0, 12));
      expect(errors.length).to.be.at.least(60);
      expect(Math.abs(medianOf(errors)), "bias").to.be.at.most(20);
      expect(quantile(errors, 0.5), "median").to.be.at.most(25);
      expect(quantile(errors, 0.95), "95 %").to.be.at.most(80);
    });

    it(`are within 110 ms of 95 % of the words at half and twice the rate: ${voice}`, async () => {
      const sentences = (naturalSentences[lang] ?? []).slice(0, 4);
      const errors = [...(await errorsAt(0.5, sentences)), ...(await errorsAt(2, sentences))];
      expect(errors.length).to.be.at.least(40);
      expect(quantile(errors, 0.95)).to.be.at.most(110);
    });

    it(`are one for each word, in order and within the audio, with signs and at any rate and pitch: ${voice}`, async () => {
      for (const words of written[lang] ?? written["en-US"] ?? []) {
        const text = words.replaceAll("|", " ");
        const expected = words.split("|").map((word) => word.replace(around, ""));
        for (const prosody of [{}, { rate: 0.5, pitch: 2 }, { rate: 2, pitch: 0 }]) {
          const { words: marks, samples, sampleRate } = await say(voice, lang, text, prosody);
          const characters = Array.from(text);
          const found = marks.map(({ start, end }) =>
            characters.slice(start, end).join("").replace(around, ""),
          );
          expect(found).to.deep.equal(expected);
          const times = marks.map(({ time }) => time);
          expect(
            times.slice(1).every((time, at) => time > (times[at] ?? 0)),
            `${times}`,
          ).to.equal(true);
          expect(times.at(-1)).to.be.below((1000 * samples.length) / sampleRate);
        }
      }
    });
  }
});
