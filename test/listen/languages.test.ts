import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import type { EspeakRequest } from "../../src/subprocess/espeak.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "../support/collect.ts";
import { duringSuite } from "../support/during.ts";
import { itSpeaksTheSame } from "../support/same-sound.ts";
import { speakingPieces } from "../support/speak-piece.ts";
import { openToolHost } from "../support/tool-host.ts";
import { sentences } from "./sentences.ts";

const never = new AbortController().signal;

describe("Every language of the catalog", () => {
  const host = duringSuite(openToolHost);
  const { voices, systemVoices } = releaseSeed();

  /** What espeak-ng is asked for when the voice speaks the text. */
  const ordersOf = async (voice: string, lang: string, text: string) => {
    const orders: (Pick<EspeakRequest, "voice"> & { readonly input: string })[] = [];
    const speak: SubprocessHost["speak"] = (order, ...others) => {
      orders.push(order);
      return host.speak(order, ...others);
    };
    const [engine] = await localEngines({ host: speakingPieces({ ...host, speak }) });
    const request = {
      text: text.normalize("NFC"),
      ssml: false,
      voice,
      lang,
      prosody: normalProsody,
    } as const;
    const speech = await engine?.synthesize({ ...request, format: "wav" }, never);
    if (speech) await collect(speech.audio);
    return orders;
  };

  it("has a sentence in the table", () => {
    expect([...new Set(voices.map(({ lang }) => lang))].sort()).to.deep.equal(Object.keys(sentences).sort());
  });

  for (const [lang, sentence] of Object.entries(sentences)) {
    it(`is read in its own phonemes and not letter by letter: ${lang}`, async () => {
      const ids = new Set(voices.filter((one) => one.lang === lang).flatMap(({ voiceIDs }) => voiceIDs));
      const voice = systemVoices.find(({ id, voiceName }) => ids.has(id) && voiceName?.startsWith("espeak:"));
      for (const order of await ordersOf(voice?.voiceName ?? "", voice?.lang ?? lang, sentence)) {
        const words = (order.input.match(/[\p{L}\p{M}\u200c'’ʻ-]+/gu) ?? []).filter(isOfLetters);
        const read = words.length === 0 ? [] : phonemesOf(order.voice, words);
        expect(phonemesOf(order.voice, [order.input]).join(" "), sentence).not.to.match(/\([a-z]/);
        expect(read).to.have.length(words.length);
        const spelled = words.filter((word, at) => soundsOf(read[at] ?? "") > maxSounds * lettersOf(word));
        expect(spelled, read.join(" ")).to.deep.equal([]);
      }
    });
  }
});

/**
 * More than any word of the sentences has per letter; names of letters have at least twice as many.
 */
const maxSounds = 2;

/** Han characters are read as syllables, and letters alone are read by their names. */
const isOfLetters = (word: string): boolean => lettersOf(word) > 1 && !/\p{Script=Han}/u.test(word);

const lettersOf = (word: string): number => word.normalize("NFD").match(/[\p{L}\p{M}]/gu)?.length ?? 0;

const soundsOf = (phonemes: string): number => phonemes.match(/(?![ˈˌːʰʲ])\p{L}/gu)?.length ?? 0;

/**
 * The phonemes of each text, in IPA. Where espeak-ng speaks in another language they contain its
 * code: `(en)`.
 */
const phonemesOf = (voice: string, texts: readonly string[]): string[] =>
  execFileSync("espeak-ng", ["-v", voice, "-q", "-x", "--ipa", "--stdin"], {
    input: texts.join("\n\n"),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  })
    .trim()
    .split("\n");

describe("A text in the usual spelling of its language", () => {
  itSpeaksTheSame("zh-CN", [["你好世界", "nǐ hǎo shì jiè"]]);
  itSpeaksTheSame("as-IN", [["গাড়ি", "গাৰি"]]);
  itSpeaksTheSame("bn-BD", [["গাড়ি", "গা\u09dcি"]]);
  itSpeaksTheSame("chr-US", [
    ["ᎣᏏᏲ", "osiyo"],
    ["ꭳꮟᏺ", "osiyo"],
  ]);
  itSpeaksTheSame("he-IL", [
    ["שָׁלוֹם", "שָלוֹם"],
    ["הַיּוֹם", "הַיוֹם"],
    ["יִשְׂרָאֵל", "יִסְרָאֵל"],
  ]);
  itSpeaksTheSame("hyw", [["ան լաւ է", "ան լաւ e"]]);
  itSpeaksTheSame("tlh", [["DaHjaj", "dahjaj"]]);
});
