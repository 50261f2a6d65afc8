import { rewrite } from "../../mapped-text.ts";
import type { Step } from "../reader.ts";
import { abbreviationRules } from "./abbreviations.ts";
import { addressRules } from "./addresses.ts";
import { calendarNameRules, dateRules } from "./dates.ts";
import { moneyRules } from "./money.ts";
import { phoneRules } from "./phones.ts";
import { dimensionRules, quantityRules } from "./quantities.ts";
import { romanNumeralRules } from "./roman-numerals.ts";
import { compiled, type Dialect, type Rule } from "./rule.ts";
import { signRules } from "./signs.ts";
import { timeRules } from "./times.ts";
import { unitRules } from "./units.ts";
import { decadeRules, yearRules } from "./years.ts";

interface RuleGroup {
  /**
   * Texts that this does not match skip the rules, to save time: no rule may change them. Absent if
   * a rule matches letters alone.
   */
  readonly needs?: RegExp;
  readonly rules: readonly Rule[];
}

/**
 * The order matters: addresses contain numbers, dates contain fractions, and amounts contain
 * numbers.
 */
export const ruleGroups: readonly RuleGroup[] = [
  { needs: /[./\\@#+]|[vV]\d/, rules: addressRules },
  { rules: abbreviationRules },
  {
    needs: /[\d\u00bc-\u00be\u2150-\u215e⁰¹²³⁴-⁹^]/,
    rules: [
      ...dateRules,
      ...timeRules,
      ...phoneRules,
      ...moneyRules,
      ...decadeRules,
      ...dimensionRules,
      ...unitRules,
      ...yearRules,
      ...quantityRules,
    ],
  },
  {
    needs: /Jan|Feb|Mar|Apr|Ju[nl]|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun/,
    rules: calendarNameRules,
  },
  { needs: / [IVXLC]/, rules: romanNumeralRules },
  { needs: /[@&=<>≠≤≥+×*÷−≈~]|and\/or/, rules: signRules },
];

/**
 * Writes dates, sums of money, abbreviations and the like in the words that English speakers say,
 * because all tools read words in the same way.
 */
export const englishWords: Step = (text, { lang }) => {
  if (!/^en(?:-|$)/i.test(lang)) return text;
  const dialect = dialectOf(lang);
  return ruleGroups.reduce(
    (written, { needs, rules }) =>
      !needs || needs.test(written.text)
        ? rules.reduce(
            (text, [pattern, say]) => rewrite(text, compiled(pattern), (match) => say(match, dialect)),
            written,
          )
        : written,
    text,
  );
};

/** CLDR writes the month first in short dates of some regions; "en" alone is en-US. */
const dialectOf = (lang: string): Dialect =>
  /^en(?:-latn)?(?:-(?:us|ca|ph|pr|gu|vi|um|as|mp)(?:-.*)?)?$/i.test(lang) ? "american" : "british";
