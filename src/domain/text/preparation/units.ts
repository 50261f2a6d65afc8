import { rewrite, type Write } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";
import { say, type Word, wordsOf } from "./words/words.ts";

const amount = "(?:\\d+(?:[.,]\\d+)*\\s?[-\\u2013~\\u301c]\\s?)?\\d+(?:[.,]\\d+)*";
/** Words follow without a blank in Chinese, Japanese and Korean: `5°Cです`. */
const ends = "(?![\\p{Script=Latin}\\d])";

/** Units that contain a sign; others are letters, which are read by the rules of a language. */
const units = new RegExp(
  [
    `(?<![\\d.,])(?<number>${amount})\\s?(?<unit>°\\s?[CF]${ends}|(?:[µμ][mgs]|m/s²|[kc]?m[²³]|[kM]?Ω)${ends}|[°%٪‰])`,
    "(?<per>/\\s?)?(?<![\\p{L}\\p{N}])(?<alone>[kc]?m[²³])(?![\\p{L}\\p{N}])",
    `(?<![\\p{L}\\p{N}%])(?<before>%)\\s?(?<percent>${amount})`, // in Turkish and Basque
  ].join("|"),
  "gu",
);

/** Writes the names of units after their numbers. */
export const writeUnits: Step = (text, { lang }) => rewrite(text, units, writeUnit(lang));

const percentFirst: ReadonlySet<string> = new Set(["eu", "tr"]);

const writeUnit = (lang: string): Write => {
  const words = wordsOf(lang);
  const language = languageOf(lang);
  return ({ groups = {} }) => {
    const { number, percent, per = "", alone, before } = groups;
    const unit = (groups.unit ?? alone ?? before ?? "")
      .replace(/\s/g, "")
      .replace("μ", "µ")
      .replace("٪", "%");
    const word = words.get(unit) ?? degreesOf(unit, words.get("°"));
    if (!word || (before !== undefined && !percentFirst.has(language))) return undefined;
    if (alone === undefined) return sayAll(word, number ?? percent ?? "", lang);
    const name = word.other.replace(/\s*#\s*/, " ").trim();
    return per !== "" && language === "en" ? ` per ${word.forms.get("one") ?? name}` : per + name;
  };
};

/** Says an amount, or a range, whose last number decides the plural. */
const sayAll = (word: Word, numbers: string, lang: string): string => {
  const [, first = "", last = ""] = /^(.*[-\u2013~\u301c]\s?)?(.+)$/u.exec(numbers) ?? [];
  const said = say(word, last, lang);
  return said.includes(last) ? said.replace(last, numbers) : first + said;
};

/**
 * Returns the name of degrees and a letter, for languages without a name for degrees Celsius and
 * Fahrenheit.
 */
const degreesOf = (unit: string, degree: Word | undefined): Word | undefined => {
  const [, scale] = /^°([CF])$/.exec(unit) ?? [];
  if (scale === undefined || !degree) return undefined;
  const withScale = (name: string): string => `${name.includes("#") ? name : `# ${name}`} ${scale}`;
  return {
    other: withScale(degree.other),
    forms: new Map(Array.from(degree.forms, ([category, name]) => [category, withScale(name)])),
  };
};
