import {
  cardinal,
  decimal,
  ordinal,
  spellDigits,
  year,
} from "../../domain/text/preparation/english/number-words.ts";
import type { Accent, Ending, Lexicon } from "./lexicon.ts";

const number = /^(-?)((?:\d[\d,]*)?(?:\.\d+)*)(st|nd|rd|th|'?s|'d|ed|ing)?$/;
const endings: Readonly<Record<string, Ending>> = {
  s: "s",
  "'s": "s",
  ed: "ed",
  "'d": "ed",

  ing: "ing",
};

/**
 * The phonemes of a number in digits. `isFirst`: nothing precedes the number in its word. The later
 * digits of words such as `B52` and `24-365` are read in other groups.
 */
export const sayNumber = (
  text: string,
  isFirst: boolean,
  lexicon: Lexicon,
  accent: Accent,
): string | undefined => {
  const [, sign, digits = "", suffix = ""] = number.exec(text) ?? [];
  if (!/\d/.test(digits) || (sign && !isFirst)) return undefined;
  const dialect = accent === "gb" ? "british" : "american";
  const words = /^(?:st|nd|rd|th)$/.test(suffix)
    ? ordinal(digits.replaceAll(",", ""), dialect)
    : wordsOf(digits, isFirst && !sign, isFirst, dialect);
  const phonemes = lexicon.say(sign ? `minus ${words}` : words);
  const ending = endings[suffix];
  return ending ? lexicon.inflect(phonemes, ending) : phonemes;
};

const wordsOf = (
  digits: string,
  maybeYear: boolean,
  isFirst: boolean,
  dialect: Parameters<typeof cardinal>[1],
): string => {
  const [whole = "", ...parts] = digits.split(".");
  if (parts.length > 0 && (parts.length > 1 || !isFirst))
    return [whole, ...parts]
      .filter(Boolean)
      .map((part) => groupsOf(part, dialect))
      .join(" point ");
  if (parts.length > 0) return decimal(digits, dialect);
  if (maybeYear && /^\d{4}$/.test(digits)) return year(digits, dialect);
  return isFirst ? decimal(digits, dialect) : groupsOf(digits, dialect);
};

/**
 * Groups the digits as in names: 52 is a number, 365 is "three sixty-five", longer ones are read
 * digit by digit.
 */
const groupsOf = (written: string, dialect: Parameters<typeof cardinal>[1]): string => {
  const digits = written.replaceAll(",", "");
  if (/^0|^\d{4}/.test(digits)) return spellDigits(digits);
  const [, hundreds, rest = ""] = /^(\d)(?!00)(\d\d)$/.exec(digits) ?? [];
  if (hundreds === undefined) return cardinal(digits, dialect);
  const low = rest.startsWith("0") ? `oh ${cardinal(rest, dialect)}` : cardinal(rest, dialect);
  return `${cardinal(hundreds, dialect)} ${low}`;
};
