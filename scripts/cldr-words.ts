/**
 * Writes cldr.ts and emoji.ts in src/domain/text/preparation/words/: names of signs, currencies and
 * units, and of emoji, from the Unicode CLDR. Unpack its packages cldr-annotations-full,
 * cldr-annotations-derived-full and cldr-units-full (48.2.0) in a folder (`npm pack
 * cldr-annotations-full@48.2.0 …`), then run `scripts/node scripts/cldr-words.ts FOLDER`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { languages } from "../src/domain/catalog/seed/languages.ts";
import { languageOf } from "../src/domain/text/preparation/language.ts";
import { signWords } from "../src/domain/text/preparation/words/signs.ts";
import { readWords } from "../src/domain/text/preparation/words/words.ts";

const [folder = "."] = process.argv.slice(2);
const output = "src/domain/text/preparation/words/cldr.ts";
const emojiOutput = "src/domain/text/preparation/words/emoji.ts";
/** The languages of the voices that do not name emoji themselves. */
const emojiLanguages = ["en", "de", "fr", "es", "it"];

const signs = [..."−+±×÷=≈≠≤≥<>→√∞§‰%°©®™†¢₿²³"];
/** The signs whose names lose the language's word for "sign". */
const operators = [..."−+×÷∞µ†"];
const currencies = { $: "USD", "£": "GBP", "¥": "JPY", "₽": "RUB", "₩": "KRW" };
const units = {
  "m²": "area-square-meter",
  "km²": "area-square-kilometer",
  "cm²": "area-square-centimeter",
  "m³": "volume-cubic-meter",
  "cm³": "volume-cubic-centimeter",
  "km³": "volume-cubic-kilometer",
  "m/s²": "acceleration-meter-per-square-second",
  µm: "length-micrometer",
  µg: "mass-microgram",
  µs: "duration-microsecond",
  Ω: "electric-ohm",
  "°": "angle-degree",
  "°C": "temperature-celsius",
  "°F": "temperature-fahrenheit",
  "%": "concentr-percent",
  "‰": "concentr-permille",
};
/**
 * In these languages, a currency's noun has an ending after the name of a country, and none without
 * it.
 */
const possessive = new Set(["az", "ba", "cv", "kk", "ky", "tk", "tr", "tt", "ug", "uz"]);
/**
 * Signs that espeak-ng 1.51 itself reads as a word of the language. They get no other name here.
 */
const spokenByEspeak: readonly (readonly [signs: string, languages: string])[] = [
  ["+±×÷=°§©®™%", "af hu ltg lv pl sk"],
  ["©®™%", "am az ga sd si sw ur"],
  ["+=°%", "an"],
  ["©®™", "ar cy eu gd my or"],
  ["+=%", "as kok nb om smj"],
  ["+=№©®™%", "bg ru"],
  ["+=©®™%", "bn el et fi gu hi hy id ka ml mr ms ne pa sl sq vi"],
  ["+×÷=°§©®™%", "bs cs hr mk sr"],
  ["+=§©®™%", "ca"],
  ["+×÷=§©®™%", "da"],
  ["+±×÷=°§№™%", "de"],
  ["+±×÷=°§№©®™%", "en"],
  ["+=°©%", "eo"],
  ["+=°§©®™%", "es tr"],
  ["±×÷=©®™%", "fa"],
  ["+±×÷°®™%", "fr"],
  ["+=©®™", "is"],
  ["+=°§№©®™%", "it"],
  ["÷©®™%", "kn"],
  ["%", "ku tn"],
  ["+×=№©®™%", "ky"],
  ["+", "lb"],
  ["=°%", "lfn"],
  ["+±=°§©®™%", "lt"],
  ["+=", "mt"],
  ["+=°©®™%", "nl ro"],
  ["+×÷=°§№®™%", "pt"],
  ["+©®™%", "sv te"],
  ["+±×÷=§©®™%", "ta"],
];
/** Numbers that cover all plural categories of any language. */
const samples = [0, 1, 2, 3, 5, 6, 11, 20, 100, 1.5];

const read = (path: string): unknown =>
  existsSync(`${folder}/${path}`) ? JSON.parse(readFileSync(`${folder}/${path}`, "utf8")) : undefined;

const annotationsOf = (language: string): Map<string, string> => {
  const name = language === "nb" ? "no" : language;
  type File = { annotations: { annotations: Record<string, { tts?: string[] }> } };
  const file = read(`cldr-annotations-full/annotations/${name}/annotations.json`) as File | undefined;
  const names = Object.entries(file?.annotations.annotations ?? {});
  return new Map(names.flatMap(([sign, { tts }]) => (tts?.[0] ? [[sign, tts[0]] as const] : [])));
};

/** The forms of a noun, as `readWords` of words.ts reads them. */
const formsOf = (language: string, nameOf: (amount: number) => string | undefined): string | undefined => {
  const rules = new Intl.PluralRules(language);
  const forms = new Map<string, string>();
  for (const amount of samples) {
    const name = nameOf(amount);
    const category = rules.select(amount);
    if (name !== undefined && !forms.has(category)) forms.set(category, name);
  }
  const other = forms.get("other");
  if (other === undefined) return undefined;
  const rest = [...forms]
    .filter(([, name]) => name !== other)
    .map(([category, name]) => `/${category} ${name}`);
  return other + rest.join("");
};

const currencyOf = (language: string, currency: string, spoken: string | undefined): string | undefined => {
  const format = new Intl.NumberFormat(language, {
    style: "currency",
    currency,
    currencyDisplay: "name",
    minimumFractionDigits: 0,
  });
  if (spoken === undefined || languageOf(format.resolvedOptions().locale) !== language) return undefined;
  const stems = spoken
    .toLowerCase()
    .split(/[\s-]+/)
    .map((word) => word.slice(0, 3));
  if (possessive.has(language)) return stems.length === 1 ? spoken : undefined;
  return formsOf(language, (amount) => {
    const name = format.formatToParts(amount).find(({ type }) => type === "currency")?.value ?? "";
    // The noun without the country's name.
    const noun = name.split(/[\s-]+/).find((word) => stems.includes(word.toLowerCase().slice(0, 3)));
    return /\p{Lu}{2}/u.test(noun ?? "") ? undefined : lower(noun, language);
  });
};

const lower = (noun: string | undefined, language: string): string | undefined =>
  language === "de" || language === "lb" ? noun : noun?.toLocaleLowerCase(language);

const unitOf = (language: string, unit: string): string | undefined => {
  type Names = { units: { long: Record<string, Record<string, string>> } };
  const file = read(`cldr-units-full/main/${language}/units.json`) as
    | { main: Record<string, Names> }
    | undefined;
  const names = file?.main[language]?.units.long[unit];
  if (!names) return undefined;
  const rules = new Intl.PluralRules(language);
  return formsOf(language, (amount) => {
    const other = names["unitPattern-count-other"];
    const pattern = names[`unitPattern-count-${rules.select(amount)}`] ?? other ?? "";
    const name = (pattern.includes("{0}") ? pattern : (other ?? "")).replace("{0}", "#").replace(/^#\s*/, "");
    return /[/²³µΩ‰%٪^]|[A-Za-z]\d/u.test(name) || !/\p{L}{2}/u.test(name) ? undefined : name;
  });
};

/** Removes the word for "sign", which most names of operators contain. */
const shortNames = (names: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const words = operators.flatMap((sign) => [...new Set(names.get(sign)?.split(/\s+/))]);
  const common = new Set(words.filter((word) => words.filter((other) => other === word).length >= 4));
  return new Map(
    [...names].map(([sign, name]) => [
      sign,
      name
        .replace(/[«»„“”"()‘’]/g, "")
        .replace(/[\s,،;/]+/g, " ")
        .split(" ")
        .filter((word) => !common.has(word))
        .join(" ")
        .trim(),
    ]),
  );
};

/** Some Chuvash names have Latin letters that look like Cyrillic ones. */
const withoutLatin = (name: string): string =>
  name.replace(/[ăĕçÿ]/g, (letter) => "ӑӗҫӳ".charAt("ăĕçÿ".indexOf(letter)));

const rows: string[] = [];
for (const language of new Set(languages.map(([, lang]) => languageOf(lang)))) {
  const annotations = annotationsOf(language);
  const known = new Set(readWords(signWords[language] ?? "").keys());
  const spoken = spokenByEspeak.flatMap(([signs, names]) =>
    names.split(" ").includes(language) ? [...signs] : [],
  );
  const names = shortNames(annotations);
  const words = new Map<string, string | undefined>([
    ...signs.filter((sign) => !spoken.includes(sign)).map((sign) => [sign, names.get(sign)] as const),
    ...Object.entries(currencies).map(
      ([sign, code]) => [sign, currencyOf(language, code, annotations.get(sign))] as const,
    ),
    ...Object.entries(units).flatMap(([unit, name]) => {
      const forms = unitOf(language, name);
      return forms ? [[unit, forms] as const] : [];
    }),
  ]);
  const letters = language === "cv" ? withoutLatin : (name: string): string => name;
  const entries = [...words]
    .filter(([sign, name]) => name && !known.has(sign))
    .map(([sign, name]) => `${sign} ${letters(name ?? "")}`);
  if (entries.length > 0) rows.push(`  ${language}: ${JSON.stringify(entries.join("; "))},`);
}

const head = `/**
 * Names of signs, currencies and units by language, in the form that words.ts describes.
 * scripts/cldr-words.ts wrote them from the Unicode CLDR 48.2 (licence Unicode-3.0).
 */
export const cldrWords: Readonly<Record<string, string>> = {
`;
writeFileSync(output, `${head}${rows.sort().join("\n")}\n};\n`);

const derivedNames = (language: string): [string, string][] => {
  type File = { annotationsDerived: { annotations: Record<string, { tts?: string[] }> } };
  const file = read(`cldr-annotations-derived-full/annotationsDerived/${language}/annotations.json`) as File;
  return Object.entries(file.annotationsDerived.annotations).map(([sign, { tts }]) => [sign, tts?.[0] ?? ""]);
};

/**
 * False for signs that have words of their own, and for sequences with skin tones, whose members
 * are named one by one.
 */
const isNamedEmoji = (sign: string): boolean =>
  /^(?:(?![#*0-9©®™‼⁉ℹ↔-↪])\p{Emoji}|\p{RI}\p{RI})/u.test(sign) && !/.\p{Emoji_Modifier}/u.test(sign);

const emojiNames = new Map(
  emojiLanguages.map((language) => [
    language,
    new Map(
      [...annotationsOf(language), ...derivedNames(language)]
        .filter(([sign]) => isNamedEmoji(sign))
        .map(([sign, name]) => [
          sign.replaceAll("\ufe0f", ""),
          name.replace(/[:;,!?«»„“”"()‘\s]+/g, " ").trim(),
        ]),
    ),
  ]),
);
const emoji = [...(emojiNames.get("en")?.keys() ?? [])];
const emojiRows = [...emojiNames].map(
  ([language, names]) =>
    `  ${language}: ${JSON.stringify(emoji.map((one) => names.get(one) ?? "").join(";"))},`,
);
writeFileSync(
  emojiOutput,
  `/**
 * Emoji without variation selectors, and their names by language, in the same order.
 * scripts/cldr-words.ts wrote them from the Unicode CLDR 48.2 (licence Unicode-3.0).
 */
export const emoji = ${JSON.stringify(emoji.join(" "))};

export const emojiNames: Readonly<Record<string, string>> = {
${emojiRows.join("\n")}
};
`,
);
