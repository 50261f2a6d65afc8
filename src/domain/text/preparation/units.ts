import { rewrite, type Write } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";
import { say, wordsOf } from "./words/words.ts";

/** Units that contain a sign; others are letters, which are read by the rules of a language. */
const units = new RegExp(
  [
    "(?<![\\d.,])(?<number>\\d+(?:[.,]\\d+)*)\\s?(?<unit>°\\s?[CF](?![\\p{L}\\d])|[µμ][mgs](?!\\p{L})|m/s²|[kc]?m[²³](?!\\p{L})|[kM]?Ω(?!\\p{L})|[°%٪‰])",
    "(?<per>/\\s?)?(?<![\\p{L}\\p{N}])(?<alone>[kc]?m[²³])(?![\\p{L}\\p{N}])",
    "(?<![\\p{L}\\p{N}%])(?<before>%)\\s?(?<percent>\\d+(?:[.,]\\d+)*)", // in Turkish and Basque
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
    const word = words.get(unit);
    if (!word || (before !== undefined && !percentFirst.has(language))) return undefined;
    if (alone === undefined) return say(word, number ?? percent ?? "", lang);
    const name = word.other.replace(/\s*#\s*/, " ").trim();
    return per !== "" && language === "en" ? ` per ${word.forms.get("one") ?? name}` : per + name;
  };
};
