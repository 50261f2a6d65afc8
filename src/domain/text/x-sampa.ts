/** X-SAMPA and IPA, in turn; other characters are the same in both. */
const pairs =
  "g ɡ A ɑ { æ } ʉ Q ɒ O ɔ E ɛ @ ə 3 ɜ I ɪ U ʊ V ʌ 6 ɐ 1 ɨ 2 ø 9 œ 8 ɵ M ɯ 7 ɤ & ɶ Y ʏ H ɥ D ð T θ S ʃ Z ʒ N ŋ J ɲ L ʎ B β C ç " +
  'G ɣ R ʁ X χ K ɬ F ɱ 5 ɫ W ʍ P ʋ 4 ɾ ? ʔ : ː " ˈ % ˌ ~ \u0303 = \u0329 _~ \u0303 _= \u0329 _ \u0361 r\\ ɹ h\\ ɦ v\\ ʋ @` ɚ 3` ɝ';

const words = pairs.split(" ");
const ipa = new Map(
  words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""] as const] : [])),
);
const symbol = /_[~=]|[rhv]\\|[@3]`|./gsu;

/** `-` separates symbols. */
export const ipaOfXSampa = (phonemes: string): string =>
  phonemes.replace(symbol, (one) => (one === "-" ? "" : (ipa.get(one) ?? one)));
