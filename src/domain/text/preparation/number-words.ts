import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";

/** Spells whole numbers below a thousand million in a language. */
type Spell = (number: number) => string;

/**
 * Spells the numbers of a language in which they are regular. `names`: zero to nine, the tens, a
 * hundred, a thousand and a million.
 */
const regular = (names: string): Spell => {
  const words = names.split(" ");
  const [hundred, thousand, million] = words.slice(19);
  const times = (count: number, unit = ""): string => (count === 1 ? unit : `${spell(count)} ${unit}`);
  const spell: Spell = (number) => {
    if (number < 10) return words[number] ?? "";
    if (number < 100) return join(words[9 + Math.trunc(number / 10)], number % 10);
    if (number < 1000) return join(times(Math.trunc(number / 100), hundred), number % 100);
    if (number < 1_000_000) return join(times(Math.trunc(number / 1000), thousand), number % 1000);
    return join(`${spell(Math.trunc(number / 1_000_000))} ${million}`, number % 1_000_000);
  };
  const join = (head = "", rest: number): string => (rest === 0 ? head : `${head} ${spell(rest)}`);
  return spell;
};

const hebrewOnes = "אֶפֶס אַחַת שְׁתַּיִם שָׁלוֹשׁ אַרְבַּע חָמֵשׁ שֵׁשׁ שֶׁבַע שְׁמוֹנֶה תֵּשַׁע עֶשֶׂר".split(" ");
const hebrewTeens = "אַחַת שְׁתֵּים שְׁלוֹשׁ אַרְבַּע חֲמֵשׁ שֵׁשׁ שְׁבַע שְׁמוֹנֶה תְּשַׁע".split(" ");
const hebrewTens = "עֶשְׂרִים שְׁלוֹשִׁים אַרְבָּעִים חֲמִישִׁים שִׁישִׁים שִׁבְעִים שְׁמוֹנִים תִּשְׁעִים".split(" ");
const hebrewHundreds = "שְׁלוֹשׁ אַרְבַּע חֲמֵשׁ שֵׁשׁ שְׁבַע שְׁמוֹנֶה תְּשַׁע".split(" ");
const hebrewThousands = "שְׁלוֹשֶׁת אַרְבַּעַת חֲמֵשֶׁת שֵׁשֶׁת שִׁבְעַת שְׁמוֹנַת תִּשְׁעַת עֲשֶׂרֶת".split(" ");

/** Spells numbers in the form for counting. The last part has "and" before it. */
const hebrew: Spell = (number) => {
  const parts: string[] = [];
  const [millions, thousands, rest] = [number / 1_000_000, (number / 1000) % 1000, number % 1000].map(
    Math.trunc,
  );
  if (millions) parts.push(millions === 1 ? "מִילְיוֹן" : `${hebrew(millions)} מִילְיוֹן`);
  if (thousands) parts.push(hebrewThousand(thousands));
  parts.push(...hebrewParts(rest ?? 0));
  if (parts.length === 0) return hebrewOnes[0] ?? "";
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(" ")} וְ${last}`;
};

const hebrewThousand = (count: number): string => {
  if (count === 1) return "אֶלֶף";
  if (count === 2) return "אַלְפַּיִם";
  const construct = hebrewThousands[count - 3];
  return construct === undefined ? `${hebrew(count)} אֶלֶף` : `${construct} אֲלָפִים`;
};

const hebrewParts = (number: number): string[] => {
  const hundreds = Math.trunc(number / 100);
  const rest = number % 100;
  const parts: string[] = [];
  if (hundreds === 1) parts.push("מֵאָה");
  if (hundreds === 2) parts.push("מָאתַיִם");
  if (hundreds > 2) parts.push(`${hebrewHundreds[hundreds - 3]} מֵאוֹת`);
  if (rest > 10 && rest < 20) parts.push(`${hebrewTeens[rest - 11]} עֶשְׂרֵה`);
  else if (rest > 0 && rest <= 10) parts.push(hebrewOnes[rest] ?? "");
  else if (rest > 0) {
    parts.push(hebrewTens[Math.trunc(rest / 10) - 2] ?? "");
    if (rest % 10 > 0) parts.push(hebrewOnes[rest % 10] ?? "");
  }
  return parts;
};

/** The languages whose voices do not read digits in espeak-ng 1.51. */
const languages: ReadonlyMap<string, Spell> = new Map([
  [
    "cv",
    regular(
      "ноль пӗр иккӗ виҫҫӗ тӑваттӑ пиллӗк улттӑ ҫиччӗ саккӑр тӑххӑр вуннӑ ҫирӗм вӑтӑр хӗрӗх аллӑ утмӑл ҫитмӗл сакӑрвуннӑ тӑхӑрвуннӑ ҫӗр пин миллион",
    ),
  ],
  ["he", hebrew],
  [
    "nog",
    regular(
      "ноль бир эки уьш доьрт бес алты ети сегиз тогыз он йырма отыз кырк элли алпыс етпис сексен токсан юз мынъ миллион",
    ),
  ],
  [
    "tk",
    regular(
      "nol bir iki üç dört bäş alty ýedi sekiz dokuz on ýigrimi otuz kyrk elli altmyş ýetmiş segsen togsan ýüz müň million",
    ),
  ],
]);

/** The Nepali voice reads all other digits in English. */
const inDevanagari = (digits: string): string =>
  digits.replace(/\d/g, (digit) => String.fromCharCode(0x966 + Number(digit)));

/** Writes numbers in words where the voice does not read digits. */
export const spellNumbers: Step = (text, { lang, tool }) => {
  if (tool !== "espeak") return text;
  const language = languageOf(lang);
  if (language === "ne") return rewrite(text, /\d+/gu, ({ 0: digits }) => inDevanagari(digits));
  const spell = languages.get(language);
  if (!spell) return text;
  return rewrite(text, /\d+/gu, ({ 0: digits, index, input }) => {
    const isNumber = digits.length < 10 && !/^0./.test(digits);
    const words = isNumber
      ? spell(Number(digits))
      : Array.from(digits, (digit) => spell(Number(digit))).join(" ");
    const isApart = (character = " "): boolean => !/[\p{L}\p{M}]/u.test(character);
    return `${isApart(input[index - 1]) ? "" : " "}${words}${isApart(input[index + digits.length]) ? "" : " "}`;
  });
};
