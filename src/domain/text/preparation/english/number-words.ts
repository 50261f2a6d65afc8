import type { Dialect } from "./rule.ts";

const units = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
  "seventeen eighteen nineteen"
).split(" ");
const tens = "- - twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const scales = ["", " thousand", " million", " billion", " trillion"];

/** The names of 0 to 19, and of the tens. */
export const numberNames: readonly string[] = [...units, ...tens.slice(2)];
/** The names of 0 to 9. */
export const digitNames: readonly string[] = units.slice(0, 10);

/** `digits` may have commas. Numbers beyond trillions are spelled digit by digit. */
export const cardinal = (digits: string | number, dialect: Dialect): string => {
  const plain = String(digits)
    .replaceAll(",", "")
    .replace(/^0+(?=\d)/, "");
  if (plain.length > 15) return spellDigits(plain);
  const and = dialect === "british" ? " and " : " ";
  const groups = plain
    .replace(/\B(?=(?:\d{3})+$)/g, ",")
    .split(",")
    .map(Number);
  return (
    groups
      .map((group, index) => ({ group, scale: scales[groups.length - 1 - index] ?? "" }))
      .filter(({ group }) => group > 0)
      .map(({ group, scale }, index) =>
        index > 0 && scale === "" && group < 100
          ? and + below100(group)
          : ` ${below1000(group, and)}${scale}`,
      )
      .join("")
      .trim() || "zero"
  );
};

const below1000 = (value: number, and: string): string => {
  if (value < 100) return below100(value);
  const hundreds = `${units[Math.floor(value / 100)]} hundred`;
  return value % 100 === 0 ? hundreds : hundreds + and + below100(value % 100);
};

const below100 = (value: number): string => {
  const unit = units[value];
  if (unit !== undefined) return unit;
  const ten = tens[Math.floor(value / 10)] ?? "";
  return value % 10 === 0 ? ten : `${ten}-${units[value % 10]}`;
};

/** "0042" as "zero zero four two". Other characters are ignored. */
export const spellDigits = (digits: string): string =>
  Array.from(digits.replace(/\D/g, ""), (digit) => units[Number(digit)]).join(" ");

/** "1,234.50", ".5". */
export const decimal = (digits: string, dialect: Dialect): string => {
  const [integer = "", fraction] = digits.split(".");
  const words = /^0\d/.test(integer) ? spellDigits(integer) : cardinal(integer || "0", dialect);
  return fraction === undefined ? words : `${words} point ${spellDigits(fraction)}`;
};

const irregularOrdinals: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

export const ordinal = (digits: string | number, dialect: Dialect): string =>
  cardinal(digits, dialect).replace(
    /[a-z]+$/,
    (word) => irregularOrdinals[word] ?? `${word.replace(/y$/, "ie")}th`,
  );

/** "1906" as "nineteen oh six". */
export const year = (digits: string | number, dialect: Dialect): string => {
  const value = Number(digits);
  const [century, rest] = [Math.floor(value / 100), value % 100];
  if (value < 1000 || value > 9999 || value % 1000 < 10) return cardinal(value, dialect);
  if (rest === 0) return `${below100(century)} hundred`;
  return `${below100(century)} ${rest < 10 ? "oh " : ""}${below100(rest)}`;
};

/** Writes the plural of the last word. */
export const plural = (words: string): string =>
  /[^aeo]y$/.test(words)
    ? `${words.slice(0, -1)}ies`
    : /(?:s|x|ch|sh)$/.test(words)
      ? `${words}es`
      : `${words}s`;
