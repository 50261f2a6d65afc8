import { stressBeforeVowels } from "../english/ipa.ts";

/**
 * The symbols that Kokoro's voices were trained with, from misaki 0.9.4 (Apache-2.0),
 * `EspeakG2P.e2m` in espeak.py.
 */
const symbols: Readonly<Record<string, string>> = {
  ...{ "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y" },
  ...{ "d^z": "ʣ", "d^ʒ": "ʤ", "s^s": "S", "t^s": "ʦ", "t^ʃ": "ʧ" },
};

/**
 * Converts phonemes of espeak-ng, in the International Phonetic Alphabet, to Kokoro's symbols. In
 * the phonemes, `^` ties the parts of one phoneme. Words of another language are between the names
 * of languages in brackets.
 */
export const kokoroSymbols = (phonemes: string): string =>
  phonemes
    .replace(/\([a-z-]+\)/g, "")
    .replace(/\S\^\S/gu, (tied) => symbols[tied] ?? tied)
    .replace(/[\^-]/g, "");

const ipaSymbols = Object.entries(symbols).flatMap(([tied, symbol]) =>
  ["", "\u0361", "\u203f"].map((tie) => [tied.replace("^", tie), symbol] as const),
);
const vowel = "[AIOQWYaeiouyæøœɐɑɒɔəɚɛɜɤɨɪɯʊʌᵻ]";

/**
 * The model's symbols of a pronunciation in the International Phonetic Alphabet. Undefined if the
 * model has no symbol for one of its sounds.
 */
export const symbolsOfIpa = (
  ipa: string,
  vocabulary: Readonly<Record<string, number>>,
): string | undefined => {
  let plain = ipa
    .normalize("NFC")
    .replace(/[^ç]/gu, (letter) => letter.normalize("NFD"))
    .replace(/[./]/g, "")
    .replace(/'/g, "ˈ")
    .replace(/g/g, "ɡ")
    .replace(/\s+/g, " ")
    .trim();
  // These symbols are not IPA, but the model's own.
  if (/[A-Z;:,!?—…"()“”↓→↗↘]/.test(plain)) return undefined;
  for (const [phone, symbol] of ipaSymbols) plain = plain.replaceAll(phone, symbol);
  if (plain === "" || ![...plain].every((symbol) => Object.hasOwn(vocabulary, symbol))) return undefined;
  const stressed = plain.includes("ˈ") ? plain : plain.replace(new RegExp(vowel), "ˈ$&");
  return stressBeforeVowels(stressed, vowel);
};
