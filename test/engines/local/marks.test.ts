import { expect } from "chai";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { localVoiceOf } from "../../support/same-sound.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { medianOf, sentenceOf, wordsByVoice, wordTimingErrors } from "../../support/word-onsets.ts";

/**
 * In English all pairs of frequent words that espeak-ng 1.51 reports as one; prose in other
 * languages.
 */
const joinedWords: Readonly<Record<string, string>> = {
  "en-GB": Array.from(
    (
      "of the, of a, of an, of which, to be, in the, in which, on the, at a, at will, for the, for a, for an, from the, from which, " +
      "with the, as is, was the, was a, has been, has not, have been, have not, had to, had been, had it, had some, will to, " +
      "would have, could have, should have, might have, must have, do not, did not, does not, not a, not have, that the, that a, " +
      "that it, than a, than an, there are, there was, there were, there be, such as, most of, no more, out of, it is, I am"
    ).split(", "),
    (pair, index) => `Then ${pair} house${index % 7 === 6 ? "." : ","}`,
  ).join(" "),
  "en-US":
    "It is the end of the day. Most of the people would have been there, and there was not a word of it. It is as it is.",
  "de-DE":
    "In dem Haus ist es zu der Zeit so, wie es in der Stadt ist. Das ist es, und mit dem Hund hat er es auf dem Weg zu tun.",
  "fr-FR":
    "Il y a de la place dans la maison. Qu’est-ce que c’est que ce bruit, et pourquoi est-ce que tu es là tout de suite?",
  "es-ES":
    "En la casa de la abuela no hay nada de lo que se dice. De vez en cuando lo que es de él no es de ella.",
  "it-IT":
    "Nella casa della nonna non c'è niente di quello che si dice. Per lo più è così, e di solito non lo è.",
  "pt-PT": "Na casa da avó não há nada do que se diz. De vez em quando o que é dele não é dela.",
  "nl-NL":
    "In het huis van de oma is er niets van wat er wordt gezegd. Het is zo, en in de stad is het ook zo.",
  "pl-PL":
    "W domu nie ma nic z tego, co się mówi. To jest tak, jak to jest, i na pewno nie ma go tam od dawna.",
  "ru-RU": "В доме нет ничего из того, что говорят. Это так и есть, и в том же самом доме его не было.",
};

describe("The marks of espeak-ng", () => {
  const host = duringSuite(openToolHost);

  it("are within 30 ms of the words' beginnings by the audio's energy, in ten languages", async () => {
    const [engine] = await localEngines({ host });
    if (!engine) throw new Error("espeak-ng is not installed");
    for (const [voice, words] of Object.entries(wordsByVoice)) {
      const errors = (await wordTimingErrors(engine, voice, sentenceOf(words, 0))).map(Math.abs);
      expect(medianOf(errors), voice).to.be.at.most(30);
    }
  });

  it("name every written word once, in order, also of words that the tool speaks together", async () => {
    const [engine] = await localEngines({ host });
    if (!engine) throw new Error("espeak-ng is not installed");
    for (const [lang, text] of Object.entries(joinedWords)) {
      const request = { voice: localVoiceOf(lang), lang, text, ssml: false, prosody: normalProsody } as const;
      const speech = await engine.synthesize({ ...request, format: "wav" }, AbortSignal.timeout(60_000));
      await collect(speech.audio);
      const marks = (speech.marks?.() ?? []).filter(({ type }) => type === "word");
      const written = Array.from(text.matchAll(/[\p{L}\p{M}'’-]+/gu), ([word]) => word);
      expect(
        marks.map(({ start, end }) => text.slice(start, end)),
        lang,
      ).to.deep.equal(written);
      for (const [index, { time }] of marks.slice(1).entries())
        expect(time, `${lang}: ${written[index + 1]}`).to.be.above(marks[index]?.time ?? 0);
    }
  });

  it("are reported by the library only", async () => {
    const command = await openToolHost({ speakers: 0 });
    try {
      const [byLibrary] = await localEngines({ host });
      const [byCommand] = await localEngines({ host: command });
      const voices = ["espeak:gmw/en", "flite:slt"];
      expect(voices.map((voice) => byLibrary?.marks?.(voice))).to.deep.equal([true, false]);
      expect(voices.map((voice) => byCommand?.marks?.(voice))).to.deep.equal([false, false]);
    } finally {
      await command.close();
    }
  });
});
