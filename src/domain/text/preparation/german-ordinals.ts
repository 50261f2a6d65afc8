import { type MappedText, rewrite } from "../mapped-text.ts";
import { fullStopAt } from "../sentences.ts";

/**
 * Writes `3.` before a noun in words, with the ending that the words before it require. espeak-ng
 * would pause there.
 */
export const germanOrdinals = (text: MappedText): MappedText =>
  rewrite(
    text,
    ordinal,
    ({ index, input, groups: { number = "", month = "", blank = "", next = "" } = {} }) => {
      const before = input.slice(Math.max(0, index - 40), index);
      const isOrdinal =
        month !== "" || months.test(next) || fullStopAt(input, index + number.length, "de") === "none";
      const [day, second] = [ordinalStem(number), month === "" ? undefined : ordinalStem(month)];
      if (!isOrdinal || day === undefined) return undefined;
      const ending = endingAfter(before);
      return second === undefined ? `${day}${ending}${blank}${next}` : `${day}${ending} ${second}${ending} `;
    },
  );

/** `3. Mai`, `3. 10. 1990`, `3.10.1990` */
const ordinal =
  /(?<![\p{L}\p{Nd}.,:/-])(?<number>[1-9]\d?)\.(?:\s?(?<month>0?[1-9]|1[0-2])\.\s?(?=\d{4}(?!\d))|(?<blank>\s)(?<next>\p{Lu}\p{Ll}*))/gu;

const months =
  /^(?:Jänner|Januar|Februar|Feber|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)$/u;

const endingAfter = (before: string): "e" | "en" | "er" => {
  if (/(?:^|[\s(])(?:ein|kein|mein|dein|sein|ihr|unser|euer)\s$/iu.test(before)) return "er";
  if (
    /(?:^|[\s(])(?:in|an|auf|bei|mit|nach|von|zu|aus|seit|vor|unter|während|wegen|ab)\s(?:der|die|das)\s$/iu.test(
      before,
    )
  )
    return "en";
  if (/(?:^|[\s(])(?:der|die|das|diese|dieser|dieses)\s$/iu.test(before)) return "e";
  if (/(?:^|[\s(])(?:am|im|vom|zum|beim|bis|dem|den|des|ab|seit|einem|einen|eines)\s$/iu.test(before))
    return "en";
  return /\p{Ll}\p{M}*\s$/u.test(before) && !/(?:^|\s)\p{Lu}\S*\s$/u.test(before) ? "en" : "er";
};

const small = [
  ..."ers zwei drit vier fünf sechs sieb ach neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn".split(
    " ",
  ),
  ..."siebzehn achtzehn neunzehn".split(" "),
];
const units = " einund zweiund dreiund vierund fünfund sechsund siebenund achtund neunund".split(" ");
const tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" ");

/** Returns the ordinal without its ending, such as `dritt` for 3. */
export const ordinalStem = (digits: string): string | undefined => {
  const number = Number(digits);
  if (number < 1 || number > 99) return undefined;
  if (number < 20) return `${small[number - 1]}t`;
  return `${units[number % 10]}${tens[Math.floor(number / 10) - 2]}st`;
};
