import type { JsonIndex } from "./json-index.ts";
import { isAlphabetic, isLower, isNumeric, isUpper } from "./letters.ts";

/** The part of speech of each word of a sentence, in the tags of the Penn Treebank. */
export type Tagger = (words: readonly string[]) => string[];

/** An averaged perceptron: words with one usual tag are in a dictionary. */
export const createTagger = (model: JsonIndex): Tagger => {
  const usual = model.member("tagdict");
  const weights = model.member("weights");
  const known = new Set(model.get("vocab") as string[]);
  // Among equal scores, the last tag wins.
  const tags = (model.get("tags") as string[]).toSorted().toReversed();
  const best = (features: readonly string[]): string => {
    const scores = new Map<string, number>();
    for (const feature of features) {
      const found = weights.get(feature) as Readonly<Record<string, number>> | undefined;
      // The weights have one decimal. Sums of whole numbers do not depend on their order.
      for (const tag in found) scores.set(tag, (scores.get(tag) ?? 0) + Math.round(10 * (found[tag] ?? 0)));
    }
    const scoreOf = (tag: string): number => scores.get(tag) ?? 0;
    return scores.size === 0
      ? "NN"
      : tags.reduce((one, other) => (scoreOf(other) > scoreOf(one) ? other : one));
  };
  const generalized = (word: string): string => {
    const general = classOf(word);
    return known.has(general) ? general : `<${shapeOf(word)}>`;
  };
  return (words) => {
    const context = ["-START2-", "-START-", ...words.map(generalized), "-END-", "-END2-"];
    let [before, previous] = ["-START2-", "-START-"];
    return words.map((word, at) => {
      const tag =
        (usual.get(word) as string | undefined) ?? best(featuresOf(word, at, context, previous, before));
      [before, previous] = [previous, tag];
      return tag;
    });
  };
};

const featuresOf = (
  word: string,
  at: number,
  context: readonly string[],
  previous: string,
  before: string,
): string[] => {
  const [second = "", first = "", own = "", next = "", later = ""] = context.slice(at, at + 5);
  return [
    ...["b", `s3=${word.slice(-3)}`, `p1=${word.slice(0, 1)}`, `w=${own}`, `sh=${shapeOf(word)}`],
    ...[at === 0 ? "i0" : "i+", `t-1=${previous}`, `t-2=${before}`, `t-12=${previous},${before}`],
    ...[`w-1=${first}`, `s3-1=${first.slice(-3)}`, `w-2=${second}`],
    ...[`w+1=${next}`, `s3+1=${next.slice(-3)}`, `w+2=${later}`],
  ];
};

const classOf = (word: string): string => {
  if (word.slice(1).includes("-") && !word.startsWith("-")) return "!HYPHEN";
  if (/^\d{4}$/.test(word)) return "!YEAR";
  return /^\d/.test(word) ? "!DIGITS" : word.toLowerCase();
};

const shapeOf = (word: string): string => {
  if (isNumeric(word)) return "d";
  if (!isAlphabetic(word)) return word.slice(0, 4).replace(/\d/g, "d").replace(/\p{L}/gu, "x");
  if (isLower(word)) return "x";
  if (isUpper(word)) return word.length > 1 ? "XX" : "X1";
  return isUpper(word.charAt(0)) && isLower(word.slice(1)) ? "Xx" : "xX";
};
