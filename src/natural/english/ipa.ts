import type { Accent } from "./lexicon.ts";

/** The sounds for which the model has other symbols than IPA, in both accents. */
const ofBothAccents: readonly (readonly [ipa: string, symbols: string])[] = [
  ["tʃ", "ʧ"],
  ["dʒ", "ʤ"],
  ["eɪ", "A"],
  ["aɪ", "I"],
  ["ɔɪ", "Y"],
  ["aʊ", "W"],
  ["l̩", "ᵊl"],
  ["n̩", "ᵊn"],
  ["m̩", "ᵊm"],
  ["g", "ɡ"],
  ["r", "ɹ"],
  ["ɫ", "l"],
  ["ʍ", "w"],
  ["ʔ", "t"],
];

const byAccent: Readonly<Record<Accent, typeof ofBothAccents>> = {
  us: [
    ["oʊ", "O"],
    ["əʊ", "O"],
    ["ɜːɹ", "ɜɹ"],
    ["ɜːr", "ɜɹ"],
    ["ɝ", "ɜɹ"],
    ["ɚ", "əɹ"],
    ["ɜː", "ɜɹ"],
    ["ɒ", "ɑ"],
    ["e", "ɛ"],
    ["a", "æ"],
    ["o", "O"],
    ["ɾ", "T"],
    ["ː", ""],
  ],
  gb: [
    ["əʊ", "Q"],
    ["oʊ", "Q"],
    ["eə", "ɛː"],
    ["ɝ", "ɜː"],
    ["ɚ", "ə"],
    ["e", "ɛ"],
    ["æ", "a"],
    ["o", "ɔː"],
    ["ɾ", "t"],
    ["ᵻ", "ɪ"],
  ],
};

/** A pronunciation consists of these symbols of the model. Only British voices have `ː`. */
const validSymbols = /^[AIOQTWYabdfhijklmnpstuvwzæðŋɐɑɒɔəɛɜɡɪɹʃʊʌʒʤʧθxɬᵊᵻːˈˌ ]+$/;
const vowel = "[AIOQWYaiuæɐɑɒɔəɛɜɪʊʌᵻᵊ]";

/**
 * The model's symbols of a pronunciation in IPA. Undefined if it has a sound that English lacks:
 * the word is then read by its spelling.
 */
export const symbolsOfIpa = (ipa: string, accent: Accent): string | undefined => {
  // Syllable breaks and ties do not change a sound.
  const plain = ipa
    .normalize("NFC")
    .replace(/[./]|\u203f|\u0361/g, "")
    .replace(/'/g, "ˈ")
    .replace(/\s+/g, " ")
    .trim();
  const table = [...byAccent[accent], ...ofBothAccents].toSorted(([a], [b]) => b.length - a.length);
  let symbols = "";
  for (let at = 0; at < plain.length; ) {
    const [phone, written] = table.find(([phone]) => plain.startsWith(phone, at)) ?? [];
    symbols += written ?? plain.charAt(at);
    at += phone?.length ?? 1;
  }
  if (!validSymbols.test(symbols)) return undefined;
  const stressed = symbols.includes("ˈ") ? symbols : symbols.replace(new RegExp(vowel), "ˈ$&");
  return stressBeforeVowels(stressed, vowel);
};

/** Moves stress marks: models have them before the vowel, IPA has them before the syllable. */
export const stressBeforeVowels = (symbols: string, vowel: string): string =>
  symbols.replace(new RegExp(`([ˈˌ])([^ˈˌ ]*?)(?=${vowel})`, "g"), "$2$1");
