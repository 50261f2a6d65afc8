import { amountOf, fraction, number } from "./amounts.ts";
import { cardinal, decimal, ordinal, plural } from "./number-words.ts";
import { type Dialect, end, pattern, type Rule, signBefore, start } from "./rule.ts";
import { writtenUnit } from "./units.ts";

const suffixOf = (digits: string): string => {
  const [last, before] = [digits.at(-1), digits.at(-2)];
  if (before === "1") return "th";
  return last === "1" ? "st" : last === "2" ? "nd" : last === "3" ? "rd" : "th";
};

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const unraised = (written: string): string =>
  written.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/gu, (digit) => String(superscripts.indexOf(digit))).replace("⁻", "-");

const signed = (written: string, dialect: Dialect): string =>
  /^[-−]/.test(written)
    ? `minus ${decimal(written.slice(1), dialect)}`
    : decimal(written.replace("+", ""), dialect);

const power = (base: string, exponent: string, dialect: Dialect): string => {
  const spoken = /^\p{L}/u.test(base) ? base : signed(base, dialect);
  if (exponent === "2") return `${spoken} squared`;
  if (exponent === "3") return `${spoken} cubed`;
  return `${spoken} to the power of ${/\d/.test(exponent) ? signed(exponent, dialect) : exponent}`;
};

export const quantityRules: readonly Rule[] = [
  [/(?<![\p{L}\p{N}_.,/:-])24\/7(?![\p{L}\p{N}_/])/gu, () => "twenty-four seven"],
  [/(?<![\p{L}\p{N}_.,/:-])9\/11(?![\p{L}\p{N}_/])/gu, () => "nine eleven"],
  [/(?<![\p{L}\p{N}_.,/:-])50\/50(?![\p{L}\p{N}_/])/gu, () => "fifty-fifty"],
  [
    // 1st, 1,000th
    pattern(start, "(\\d{1,3}(?:,\\d{3})+|\\d{1,15})(st|nd|rd|th|ST|ND|RD|TH)(?![\\p{L}\\p{N}_])"),
    ([, digits = "", suffix = ""], dialect) =>
      suffix.toLowerCase() === suffixOf(digits) ? ordinal(digits, dialect) : undefined,
  ],
  [
    pattern(start, "(\\d{1,3})0s(?![\\p{L}\\p{N}_])"),
    ([, digits = ""], dialect) => plural(cardinal(`${digits}0`, dialect)),
  ],
  [
    // 10^6, x^2, 10⁶
    pattern(
      "(?<![\\p{L}\\p{N}_.,])",
      `(${number}|\\p{L})(?:\\^\\(?([-−+]?\\d{1,6}|\\p{L})\\)?|(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))(?![\\p{L}\\p{N}_])`,
    ),
    ([, base = "", exponent, raised = ""], dialect) => power(base, exponent ?? unraised(raised), dialect),
  ],
  [
    // 1e6; "7350e36" is a hexadecimal name.
    pattern(
      signBefore,
      start,
      `(?!\\d{4,}[eE]\\d)(${number})[eE]([+-]?\\d{1,3})(?![\\p{L}\\p{N}_]|[.,:/]\\d)`,
    ),
    ([, sign, first = "", exponent = ""], dialect) =>
      `${sign ? "minus " : ""}${decimal(first, dialect)} times ten to the power of ${signed(exponent, dialect)}`,
  ],
  [
    // 4/5 stars, 10/10
    pattern(
      start,
      "(\\d{1,3}(?:\\.\\d)?)\\/(5|10|100)(?:(?<=(?<!\\d)(?:10\\/10|5\\/5|100\\/100))|(?=\\s(?:stars?|points?|marks?|rating)(?!\\p{L})))(?![\\p{L}\\p{N}_/]|[.,]\\d)",
    ),
    ([, count = "", all = ""], dialect) => `${decimal(count, dialect)} out of ${cardinal(all, dialect)}`,
  ],
  [
    // 2 1/2, 2½
    pattern(start, `(${fraction})(?![\\p{L}\\p{N}_/]|[.,:-]\\d)`),
    ([, written = ""], dialect) => amountOf(written, dialect).words,
  ],
  [
    // 16:9
    pattern(start, `(${number}):(${number})(?![\\p{L}\\p{N}_:/])`),
    ([, first = "", second = ""], dialect) => `${decimal(first, dialect)} to ${decimal(second, dialect)}`,
  ],
  [
    pattern(start, "([1-9]\\d{0,5}(?:\\.\\d+)?)[x×](?![\\p{L}\\p{N}_])"),
    ([, count = ""], dialect) => `${decimal(count, dialect)} times`,
  ],
  [
    // Ranges and results. A dash is a minus sign before an equals sign, or between blanks if the
    // first number is larger. "CVE-2025-27613" is a name.
    pattern("(?<!\\p{L}-)", start, `(${number})(\\s?)([-–—−])\\s?(${number})${end}(?![-–—−])(?=(\\s?=)?)`),
    ([, first = "", blank, , second = "", equals], dialect) => {
      const [from, to] = [first, second].map((digits) => Number(digits.replaceAll(",", ""))) as [
        number,
        number,
      ];
      const isDifference = equals !== undefined || (blank !== "" && from > to);
      // "5.2-1" and "4711-12" are names, but "3-1" is a result.
      const isName = /^0\d/.test(second) || (from >= to && !/^\d{1,2}\D\d{1,2}$/.test(`${first}-${second}`));
      if (isName && !isDifference) return undefined;
      return `${decimal(first, dialect)} ${isDifference ? "minus" : "to"} ${decimal(second, dialect)}`;
    },
  ],
  [
    pattern(signBefore, start, `(${number})(?=\\s(?:million|billion|trillion)(?!\\p{L}))`),
    ([, sign, digits = ""], dialect) => `${sign ? "minus " : ""}${decimal(digits, dialect)}`,
  ],
  [
    pattern(start, `(${number})(M|bn|tn)(?![\\p{L}\\p{N}_])`),
    ([, digits = "", scale], dialect) =>
      `${decimal(digits, dialect)} ${scale === "M" ? "million" : scale === "bn" ? "billion" : "trillion"}`,
  ],
  [
    pattern("(?<![\\p{L}\\p{N}_)\\].,%°'\"”’][-−–+]?)([-−+])", `(${number})${end}`),
    ([, sign, digits = ""], dialect) => `${sign === "+" ? "plus" : "minus"} ${decimal(digits, dialect)}`,
  ],
  [
    pattern(start, `(?=[\\d,]*\\.\\d)(${number})${end}(?!-\\d)`),
    ([, digits = ""], dialect) => decimal(digits, dialect),
  ],
  [
    // "5-year-old": espeak-ng would read the hyphen.
    pattern(start, "(\\d{1,6})-(?=\\p{L}{2,})"),
    ([, digits = ""], dialect) => `${cardinal(digits, dialect)}-`,
  ],
];

/** These rules apply before those of units and years. */
export const dimensionRules: readonly Rule[] = [
  [
    // "3x4" is read with "by", "3 × 4 = 12" with "times". The rules of units read the last number
    // if it has a unit.
    pattern(
      start,
      `(?!0x)(${number})(\\s?)([x×])\\s?(${number})(?:\\s?[x×]\\s?(${number}))?(?![\\p{L}\\p{N}_.]*[\\p{N}_])`,
      `(?=(\\s?=|\\s?(${writtenUnit})(?![\\p{L}\\p{N}])|[^\\p{L}\\p{N}]|$))`,
    ),
    ([, first = "", blank, sign, second = "", third, next = "", unit], dialect) => {
      const isProduct = next.includes("=") || (sign === "×" && blank !== "" && !unit);
      const all = third === undefined ? [first, second] : [first, second, third];
      return all
        .map((one, index) => (unit && index === all.length - 1 ? one : dimension(one, dialect)))
        .join(isProduct ? " times " : " by ");
    },
  ],
];

/** Reads a number of pixels in pairs of digits, such as 1920 in "1920×1080". */
const dimension = (digits: string, dialect: Dialect): string =>
  /^[1-9]\d[1-9]\d$/.test(digits)
    ? `${cardinal(digits.slice(0, 2), dialect)} ${cardinal(digits.slice(2), dialect)}`
    : decimal(digits, dialect);
