import { readSsml, type SsmlNode } from "./ssml-tree.ts";

/** Words whose pronunciation a document gives. Offsets are UTF-16 code units of the text. */
export interface PronouncedWords {
  readonly start: number;
  readonly end: number;
  readonly ipa: string;
}

/** Reads the text of a document from `runsOf`, and the words that have phonemes, in order. */
export const pronouncedText = (
  document: string,
): { readonly text: string; readonly pronounced: readonly PronouncedWords[] } => {
  const pronounced: PronouncedWords[] = [];
  let text = "";
  const read = (node: SsmlNode): void => {
    if (typeof node === "string") {
      text += node;
      return;
    }
    const start = text.length;
    node.content.forEach(read);
    const { alphabet = "ipa", ph } = node.attributes;
    if (node.name !== "phoneme" || ph === undefined || text.length === start) return;
    const ipa = alphabet === "ipa" ? ph : alphabet === "x-sampa" ? ipaOfXSampa(ph) : undefined;
    if (ipa !== undefined) pronounced.push({ start, end: text.length, ipa });
  };
  read(readSsml(document));
  return { text, pronounced };
};

/** Symbols of X-SAMPA, each followed by its IPA; other characters are the same in both. */
const pairs =
  "g ɡ A ɑ { æ } ʉ Q ɒ O ɔ E ɛ @ ə 3 ɜ I ɪ U ʊ V ʌ 6 ɐ 1 ɨ 2 ø 9 œ 8 ɵ M ɯ 7 ɤ & ɶ Y ʏ H ɥ D ð T θ S ʃ Z ʒ N ŋ J ɲ L ʎ B β C ç " +
  'G ɣ R ʁ X χ K ɬ F ɱ 5 ɫ W ʍ P ʋ 4 ɾ ? ʔ : ː " ˈ % ˌ ~ \u0303 = \u0329 _~ \u0303 _= \u0329 _ \u0361 r\\ ɹ h\\ ɦ v\\ ʋ @` ɚ 3` ɝ';

const words = pairs.split(" ");
const ipa = new Map(
  words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""] as const] : [])),
);
const symbol = /_[~=]|[rhv]\\|[@3]`|./gsu;

/** `-` separates symbols. */
const ipaOfXSampa = (phonemes: string): string =>
  phonemes.replace(symbol, (one) => (one === "-" ? "" : (ipa.get(one) ?? one)));
