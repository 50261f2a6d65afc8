/**
 * What Kokoro's voices were trained with: misaki 0.9.4 (Apache-2.0), `EspeakG2P.e2m` in espeak.py.
 */
const symbols: Readonly<Record<string, string>> = {
  ...{ "a^ɪ": "I", "a^ʊ": "W", "e^ɪ": "A", "o^ʊ": "O", "ə^ʊ": "Q", "ɔ^ɪ": "Y" },
  ...{ "d^z": "ʣ", "d^ʒ": "ʤ", "s^s": "S", "t^s": "ʦ", "t^ʃ": "ʧ" },
};

/**
 * Kokoro's symbols for phonemes of espeak-ng in the International Phonetic Alphabet, in which `^`
 * ties the parts of a phoneme, and words of another language are between the names of languages in
 * brackets.
 */
export const kokoroSymbols = (phonemes: string): string =>
  phonemes
    .replace(/\([a-z-]+\)/g, "")
    .replace(/\S\^\S/gu, (tied) => symbols[tied] ?? tied)
    .replace(/[\^-]/g, "");
