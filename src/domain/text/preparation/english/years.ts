import { cardinal, plural, year } from "./number-words.ts";
import { anyOf, pattern, type Rule, start } from "./rule.ts";

const era = String.raw`(B\.?C\.?E|B\.?C|C\.?E|A\.?D)(?:\.(?=\s+[\p{Ll}(]|[,;:)])|(?![\p{L}\p{N}]))`;
const fourDigits = "(1\\d{3}|20\\d\\d)";
const noMore = "(?![\\p{L}\\p{N}_%°]|[-–—:/][\\p{L}\\d]|[.,]\\d)";

/** Nouns that are counted have a plural: "1999 people", "2000 steps". */
const counted =
  /^\s(?:people|men|women|children|feet|percent|[a-z]+[^\Wsiua]s|[a-z]+as)(?<!\b(?:has|was|as|does))(?![a-z])/;

/** Words before numbers that are counted or measured: "a total of 1500". */
const quantity = anyOf(`
  total sum number maximum minimum average limit size value default range rate cost price population distance length height width
  depth speed capacity score out up`);

/** Words before a year. */
const expecting = anyOf(`
  [Ii]n [Oo]f [Ss]ince [Cc]irca ca?\\. [Uu]ntil [Tt]ill [Bb]y [Ff]rom [Bb]efore [Aa]fter [Bb]etween [Dd]uring [Yy]ear [Ee]arly
  [Ll]ate [Mm]id [Ss]pring [Ss]ummer [Aa]utumn [Ff]all [Ww]inter [Cc]opyright [Bb]orn [Dd]ied`);

/** "the years 1815, 1848 and 1871" */
const amongYears = "\\b[Yy]ears\\s(?:\\d{4}(?:,|,?\\s(?:to|and|or|until|through))\\s)*";

/**
 * A year may follow one of these words, as in "a 1674 treaty" and "the 1861 Census", unless it is a
 * round number, which may count something.
 */
const naming = anyOf("[Tt]he [Tt]his [Tt]hat [Hh]is [Hh]er [Ii]ts [Tt]heir [Oo]ur [Aa]n?");
const namingYear = "(?!\\d{2}[05]0)(?=\\d{4}\\s\\p{L})";

/** Decades. These rules apply before those of units: "30s" may be seconds. */
export const decadeRules: readonly Rule[] = [
  [
    // The 1990s, the '90s
    pattern(start, "(?:(1\\d\\d0|20\\d0)['’]?|['’](\\d0))s(?![\\p{L}\\p{N}])"),
    ([, full, short = ""], dialect) =>
      full ? plural(year(full, dialect)) : plural(cardinal(short, dialect)),
  ],
  [
    pattern(
      "(?<=\\b(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Oo]ur|[Yy]our|mid|low|high|upper|early|late|[Ii]n)[\\s-])([2-9]0|[1-9]\\d0)s(?![\\p{L}\\p{N}])",
    ),
    ([, digits = ""], dialect) => plural(cardinal(digits, dialect)),
  ],
];

export const yearRules: readonly Rule[] = [
  [
    pattern(start, `(\\d{1,4})(?:\\s?[-–—]\\s?(\\d{1,4}))?\\s?${era}`),
    ([, first = "", second, era = ""], dialect) =>
      `${year(first, dialect)}${second ? ` to ${year(second, dialect)}` : ""} ${letters(era)}`,
  ],
  [
    pattern(`(?<![\\p{L}\\p{N}.])(A\\.?D)\\.?\\s(\\d{1,4})(?![\\p{L}\\p{N}]|[.,]\\d)`),
    ([, era = "", digits = ""], dialect) => `${letters(era)} ${year(digits, dialect)}`,
  ],
  [
    // 1914–1918, 1914–18, 2024/25
    pattern(start, `${fourDigits}\\s?[-–—/]\\s?(1\\d{3}|20\\d\\d|\\d\\d)${noMore}`),
    ([, first = "", second = ""], dialect) => {
      const isLater = second.length === 4 ? second > first : Number(second) > Number(first.slice(2));
      return isLater ? `${year(first, dialect)} to ${year(second, dialect)}` : undefined;
    },
  ],
  [
    pattern(
      start,
      "(?=\\d{4})",
      `(?<=((?:\\b(?:${expecting}|(?:[Ff]rom|[Bb]etween)\\s\\d{4}\\s(?:to|and|until|through))[\\s-]|${amongYears}|[(©]\\s?|\\([Cc]\\) ?)?))`,
      `(?<!\\b(?:${quantity})\\s(?:of|to|is)\\s)${fourDigits}${noMore}(?!\\s?[$£€])(?=(\\s[a-z]+)?)`,
    ),
    ([, before, digits = "", next = ""], dialect) => {
      const isCounted =
        counted.test(next) &&
        (!before || !/^(?:in|since|circa|during)/i.test(before) || digits.endsWith("00"));
      return !isCounted && (before || digits >= "1900") ? year(digits, dialect) : undefined;
    },
  ],
  [
    // 1848 to 1871
    pattern(
      start,
      `(?!\\d{2}00)(1\\d{3})\\s(to|until|through)\\s(?!\\d{2}00)(1\\d{3}|20\\d\\d)${noMore}(?=(\\s[a-z]+)?)`,
    ),
    ([, first = "", to, second = "", next = ""], dialect) =>
      first < second && !counted.test(next)
        ? `${year(first, dialect)} ${to} ${year(second, dialect)}`
        : undefined,
  ],
  [
    pattern(`(?<=\\b${naming}\\s)${namingYear}(1[5-8]\\d\\d)(?=(\\s[a-z]+)?)`),
    ([, digits = "", next = ""], dialect) => (counted.test(next) ? undefined : year(digits, dialect)),
  ],
  [
    // This number is not a year, although flite would read it as one.
    pattern(start, `([1-9])(\\d{3})(?![\\p{L}\\p{N}_]|[.,/:-]\\d)`),
    ([, thousands = "", rest = ""]) => `${thousands},${rest}`,
  ],
];

const letters = (era: string): string => Array.from(era.replaceAll(".", "")).join(".");
