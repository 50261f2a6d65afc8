import { cardinal, decimal, ordinal } from "./number-words.ts";
import type { Dialect } from "./rule.ts";

/** "1,234.50", "12", ".5". */
export const number = String.raw`(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)`;

const vulgar: Readonly<Record<string, string>> = {
  "½": "1/2",
  "¼": "1/4",
  "¾": "3/4",
  "⅓": "1/3",
  "⅔": "2/3",
  "⅕": "1/5",
  "⅖": "2/5",
  "⅗": "3/5",
  "⅘": "4/5",
  "⅙": "1/6",
  "⅚": "5/6",
  "⅛": "1/8",
  "⅜": "3/8",
  "⅝": "5/8",
  "⅞": "7/8",
};
const vulgarFractions = Object.keys(vulgar).join("");

/** "1/2", "2 1/2", "2½". */
export const fraction = String.raw`(?:(?:\d{1,4}[ -])?\d{1,2}[/⁄]\d{1,3}|\d{0,4}[${vulgarFractions}])`;
export const amount = `(?:${fraction}|${number})`;

interface Amount {
  readonly words: string;
  /** True if a singular follows: one hour, one half hour. */
  readonly isSingular: boolean;
}

const parts = new RegExp(String.raw`^(?:(\d+)[ -]?)??(?:(\d+)[/⁄](\d+)|([${vulgarFractions}]))$`, "u");

export const amountOf = (written: string, dialect: Dialect): Amount => {
  const [match, whole, own = "", ownDivisor = "", sign = ""] = parts.exec(written) ?? [];
  if (match === undefined) return { words: decimal(written, dialect), isSingular: written === "1" };
  const [count = own, divisor = ownDivisor] = vulgar[sign]?.split("/") ?? [];
  if (whole === undefined)
    return { words: fractionOf(count, divisor, dialect), isSingular: Number(count) < Number(divisor) };
  const rest = fractionOf(count, divisor, dialect).replace(/^one /, "a ");
  return { words: `${cardinal(whole, dialect)} and ${rest}`, isSingular: false };
};

/** Reads `3/4` as "three quarters", and fractions above one as "five over four". */
const fractionOf = (count: string, divisor: string, dialect: Dialect): string => {
  const [counted, divided] = [Number(count), Number(divisor)];
  const isPart = counted > 0 && counted < divided && (divided <= 20 || [32, 64, 100].includes(divided));
  if (!isPart) return `${cardinal(count, dialect)} over ${cardinal(divisor, dialect)}`;
  const name = divided === 2 ? "half" : divided === 4 ? "quarter" : ordinal(divided, dialect);
  return `${cardinal(count, dialect)} ${counted === 1 ? name : `${name}s`}`;
};
