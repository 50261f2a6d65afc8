import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Reader, Step } from "./reader.ts";
import { type Word, wordsOf } from "./words/words.ts";

type Words = ReadonlyMap<string, Word>;

/** A match of a sign, with the text around it. */
interface Place {
  readonly sign: string;
  readonly input: string;
  readonly start: number;
  readonly end: number;
}

/** Writes a pattern's matches as words, with blanks around them. */
const writeSigns =
  (pattern: RegExp, wordOf: (place: Place, words: Words, reader: Reader) => string | undefined): Step =>
  (text, reader) => {
    const words = wordsOf(reader.lang);
    return rewrite(text, pattern, ({ 0: sign, index, input }) => {
      const place = { sign, input, start: index, end: index + sign.length };
      const word = isRepeated(place) ? undefined : wordOf(place, words, reader);
      return word === undefined ? undefined : apart(word, place);
    });
  };

/** A row of the same signs is a line or an ornament. */
const isRepeated = ({ sign, input, start, end }: Place): boolean =>
  input.startsWith(sign, end) || (start > 0 && input.startsWith(sign, start - sign.length));

/** Blanks between a word and the letters and signs next to it. */
export const apart = (
  word: string,
  { input, start, end }: Pick<Place, "input" | "start" | "end">,
): string => {
  const before = /^$|[\s([{“"«„‘'¿¡/-]$/u.test(input.slice(Math.max(0, start - 1), start)) ? "" : " ";
  const after = /^$|^[\s)\]}”"»’'.,;:!?/]/u.test(input.slice(end, end + 1)) ? "" : " ";
  return before + word + after;
};

/**
 * Matches ranges from a smaller number to a greater one or, for years, `1914–18`. A hyphen may also
 * be one of a name, a telephone number or a result.
 */
const range = /(?<![\d.,:–-])(\d[\d.,:]*)(\s?[%°]?\s?)[–~\u301c]\s?(?=(\d+)(?![–-]))/gu;
const writeRanges: Step = (text, { lang }) => {
  const to = wordsOf(lang).get("–")?.other;
  if (to === undefined) return text;
  return rewrite(text, range, ({ 0: match, 1: first = "", 2: unit = "", 3: last = "" }) => {
    const [from, until] = [Number.parseInt(first, 10), Number(last)];
    const isRange =
      from < until || (from === until && /\D/.test(first)) || (first.length === 4 && last.length === 2);
    return isRange ? `${first}${unit.trimEnd()} ${to} ` : match;
  });
};

/**
 * Matches hyphens that no letter precedes and that are not between two numbers. A dash is a sign
 * only within a line.
 */
const sign = "(?<=^|[\\s([{“\"«„‘'=<>≤≥≈±×÷*/])(?<!\\d\\s)(?:-|(?<=[^\\n\\r][\\s(])\\u2013)";
const number = "[.,]?\\d[\\d.,]*";
/**
 * Scripts without blanks have a letter before each sign. Names have hyphens after Chinese
 * characters and katakana (歼-20), and `5度-10度` is a range.
 */
const withoutBlank = "(?<=[\\p{Script=Hiragana}为為是、。，：；「『（])-";
const ofMeasure =
  "(?<=[\\p{Script=Han}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}])(?<!\\d\\s?\\p{L})-";
const difference = `(?<=\\d )[-\u2013](?= ${number} =)`;
const hyphenated = new RegExp(
  `(?:${sign}|${withoutBlank})(?=[\\p{Sc}%]?${number})|${difference}|${ofMeasure}(?=${number}\\s?[°%‰度])`,
  "gu",
);

/**
 * Writes minus signs for hyphens before numbers. Precedes the steps for units and currencies, which
 * may write words between a hyphen and its number.
 */
export const writeMinusSigns: Step = (text) => rewrite(text, hyphenated, () => "\u2212");

const writeMinus = writeSigns(/\u2212/gu, (_, words) => words.get("−")?.other);

const plus =
  /(?<![[\p{L}--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+])\+(?=\s?[.,]?\d)|(?<=\d\s?)\+(?!\+)/gv;
const writePlus = writeSigns(plus, (_, words) => words.get("+")?.other);

/** Matches a comparison, but not a heart (`<3`), a quotation or an arrow. */
const comparison = /(?<![-=<>])(?:<(?!3(?![\d.,]))|(?<=[^\n\r]\s?)>)(?=\s?[-\u2212]?\d)/gu;
const writeComparisons = writeSigns(comparison, ({ sign }, words) => words.get(sign)?.other);

/**
 * Matches the powers of numbers, letters, units and brackets. Elsewhere a raised number refers to a
 * note.
 */
const exponent = /(?<=[\p{L}\p{N})\]])[⁰¹²³⁴-⁹⁺⁻ⁿ]+/gu;
const base = /(?:(?<!\p{L})(?:\p{L}|[kcdm]m|ft|in|yd|mi)|[\p{N})\]])$/u;
const writeExponents = writeSigns(exponent, ({ sign, input, start }, words) => {
  const plain = sign.normalize("NFKC").replace("\u2212", "-");
  if (!base.test(input.slice(Math.max(0, start - 3), start))) return plain;
  const power = words.get(sign)?.other;
  const before = words.get("^")?.other;
  return (
    power ??
    (before === undefined ? plain : `${before} ${plain.replace("-", `${words.get("−")?.other ?? "-"} `)}`)
  );
});

/** The languages that say no word between a number and its fraction. */
const withoutAnd: ReadonlySet<string> = new Set(["de", "ja", "ko", "th", "tr", "vi", "yue", "zh"]);

const fraction = /(?:(?<![\d.,])(\d+)\s?)?([½¼¾⅐-⅞])/gu;
const decimals: Readonly<Record<string, string>> = { "½": "5", "¼": "25", "¾": "75" };
const writeFractions: Step = (text, reader) => {
  const words = wordsOf(reader.lang);
  return rewrite(text, fraction, ({ 0: match, 1: whole, 2: sign = "", index, input }) => {
    const place = { sign: match, input, start: index, end: index + match.length };
    const word = words.get(sign)?.other;
    const [over, under] = sign.normalize("NFKC").split("\u2044");
    const divided = words.get("÷")?.other;
    if (word === undefined && decimals[sign]) return apart(`${whole ?? 0}.${decimals[sign]}`, place);
    const said = word ?? (divided === undefined ? undefined : `${over} ${divided} ${under}`);
    if (said === undefined || whole === undefined) return said && apart(said, place);
    const and = withoutAnd.has(languageOf(reader.lang)) ? undefined : words.get("&")?.other;
    return apart([whole, and, said].filter((part) => part !== undefined).join(" "), place);
  });
};

/** Points between numbers multiply; between words they separate, like bullets. */
const points = /(?<=\d)\s?[·⋅]\s?(?=\d)|(?<=[^\s])\s[·•]\s(?=[^\s])/gu;
const writePoints: Step = (text, { lang }) =>
  rewrite(text, points, ({ 0: sign, input, index }) => {
    const times = /\d/.test(input[index - 1] ?? "") && /\d/.test(input[index + sign.length] ?? "");
    const word = wordsOf(lang).get("×")?.other;
    return times && !sign.includes("•") ? word && ` ${word} ` : ", ";
  });

/** Greek letters that are signs stand alone. `N°` and `n.º` are numbers. */
const others =
  /[±×÷≈≠≤≥√∞№→⇒©®™&]|(?<![=!<>:])=(?![=>])|§+|(?<![\p{L}\p{N}])†|(?<!\p{Script=Greek})[πΩ](?!\p{Script=Greek})|\u00b5|(?<=\d\s?)\u03bc(?=[A-Za-z])|(?<!\p{L})[Nn]\.?[°º](?=\s?\d)/gu;
const same: Readonly<Record<string, string>> = { "⇒": "→", "\u03bc": "µ", "§§": "§", "\u00b5": "µ" };
const writeOthers = writeSigns(
  others,
  ({ sign }, words) => words.get(same[sign] ?? sign.replace(/^n.*/i, "№"))?.other,
);

/** Writes the words for signs that have a meaning. */
export const signSteps: readonly Step[] = [
  writeRanges,
  writeExponents,
  writeFractions,
  writePoints,
  writeMinus,
  writePlus,
  writeComparisons,
  writeOthers,
];
