import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import type { Step } from "./reader.ts";
import { say, type Word, wordsOf } from "./words/words.ts";

/** The currencies by sign. If `wordsOf` has no name for a sign, the name comes from Intl. */
const codes = new Map<string, string>(
  [
    "€ EUR, $ USD, £ GBP, ¥ JPY, ₹ INR, ₽ RUB, ₩ KRW, ₺ TRY, ₴ UAH, ₪ ILS, ₫ VND, ₦ NGN, ₱ PHP, ฿ THB, ₡ CRC, ₲ PYG, ₵ GHS, ₸ KZT, ₼ AZN",
    "₾ GEL, ₭ LAK, ₮ MNT, ៛ KHR, ৳ BDT, ֏ AMD, ؋ AFN, US$ USD, A$ AUD, AU$ AUD, C$ CAD, CA$ CAD, HK$ HKD, NZ$ NZD, S$ SGD, NT$ TWD",
    "MX$ MXN, R$ BRL",
  ].flatMap((row) => row.split(", ").map((entry) => entry.split(" ") as [string, string])),
);

const sign = "(?:(?<![\\p{L}\\p{M}])(?:US|AU?|CA?|HK|NZ|NT|MX|[SR]))?\\$|[€£¥₹₽₩₺₴₪₫¢₿₦₱฿₡₲₵₸₼₾₭₮៛৳֏؋]";
const number = "\\d+(?:[.,]\\d+)*";
const magnitude =
  "(?:[kKmMBT]|bn|mn|tn)\\b|\\s(?:thousand|mln|Mio|Mrd|mld|(?:[mM]|[bB]|[tT]r)il\\p{L}*|млн|млрд|тыс|трлн)(?!\\p{L})";
const amounts = new RegExp(
  [
    `(?<![\\d.,])(?<whole>\\d+)(?<between>[€£$])(?<hundredths>\\d\\d)(?!\\d|\\s?[€£$])`,
    `(?<!\\d)(?<before>${sign})\\s?(?<minus>[-\\u2212])?(?<first>${number})(?:\\s?[-\\u2013]\\s?(?:${sign})?(?<last>${number}))?(?<magnitude>${magnitude})?`,
    `(?<![\\d.,])(?<from>${number})(?:\\s?[-\\u2013]\\s?(?<to>${number}))?\\s?(?<after>${sign})(?!\\d)`,
    `(?<![\\p{L}\\p{N}\\p{Sc}])(?<alone>${sign})(?![\\p{L}\\p{N}\\p{Sc}])`,
  ].join("|"),
  "gu",
);

/** Writes amounts of money as they are said: the number, then the currency. */
export const writeAmounts: Step = (text, { lang }) =>
  rewrite(text, amounts, ({ 0: match, groups = {}, index, input }) => {
    const { between, before, after, alone } = groups;
    const currency = currencyOf(between ?? before ?? after ?? alone ?? "", lang);
    if (!currency) return undefined;
    const words = amountOf(groups, currency, lang);
    return /^\p{L}/u.test(input.slice(index + match.length, index + match.length + 2)) ? `${words} ` : words;
  });

const amountOf = (
  groups: Readonly<Record<string, string | undefined>>,
  currency: Currency,
  lang: string,
): string => {
  const { whole, hundredths, before, alone, magnitude = "" } = groups;
  const minus = groups.minus === undefined ? "" : "\u2212";
  const { name } = currency;
  if (whole !== undefined) return sayMoney(`${whole}.${hundredths}`, currency, lang);
  if (alone !== undefined) return name.other.replace(/\s*#\s*/, "");
  const [first = "", last] = before === undefined ? [groups.from, groups.to] : [groups.first, groups.last];
  if (last !== undefined) {
    const range = languageOf(lang) === "en" ? `${first} to ` : `${first}–`;
    return range + say(name, last + sayMagnitude(magnitude, lang), lang);
  }
  if (magnitude !== "") return minus + say(name, first + sayMagnitude(magnitude, lang), lang);
  return minus + sayMoney(first, currency, lang);
};

interface Currency {
  readonly name: Word;
  /** The name of its hundredth. */
  readonly cent: Word | undefined;
}

const currencyOf = (sign: string, lang: string): Currency | undefined => {
  const words = wordsOf(lang);
  const name = words.get(sign) ?? fromIntl(sign, lang);
  if (!name) return undefined;
  const cent = words.get(`${sign}¢`) ?? (hasCents.test(sign) ? words.get("¢") : undefined);
  return { name, cent };
};

const hasCents = /[$€]$/;

const known = new Map<string, Word | undefined>();

const fromIntl = (sign: string, lang: string): Word | undefined => {
  const language = languageOf(lang);
  const currency = codes.get(sign);
  if (currency === undefined || Intl.NumberFormat.supportedLocalesOf([language]).length === 0)
    return undefined;
  const key = `${language} ${currency}`;
  if (!known.has(key)) known.set(key, nameOf(currency, language));
  return known.get(key);
};

/** Numbers that cover all plural categories of any language. */
const samples = [0, 1, 2, 3, 5, 6, 11, 20, 100, 1.5, 1_000_000];

const nameOf = (currency: string, language: string): Word | undefined => {
  const format = new Intl.NumberFormat(language, {
    ...{ style: "currency", currency, currencyDisplay: "name", minimumFractionDigits: 0 },
  });
  const rules = new Intl.PluralRules(language);
  const forms = new Map(
    samples.map((value) => {
      const name = format.formatToParts(value).find(({ type }) => type === "currency")?.value ?? currency;
      return [rules.select(value), name];
    }),
  );
  const other = forms.get("other") ?? currency;
  return other === currency ? undefined : { other, forms };
};

/** English magnitudes that are written as letters. */
const magnitudes: Readonly<Record<string, string>> = {
  ...{ k: " thousand", K: " thousand", m: " million", mn: " million", M: " million" },
  ...{ bn: " billion", B: " billion", tn: " trillion", T: " trillion" },
};

const sayMagnitude = (written: string, lang: string): string =>
  (languageOf(lang) === "en" ? magnitudes[written] : undefined) ?? written;

/** The languages that say the hundredths after the currency: five euros fifty. */
const saysCents: ReadonlySet<string> = new Set(
  "af an be bg bs ca cs da de el en eo es et fi fr hr hu is it lb lt lv mk nb nl pl pt ro ru sk sl sq sr sv uk".split(
    " ",
  ),
);
/** The word before the hundredths. */
const connectors: Readonly<Record<string, string>> = {
  an: "con ",
  ca: "amb ",
  es: "con ",
  it: "e ",
  pt: "e ",
};

const sayMoney = (amount: string, { name, cent }: Currency, lang: string): string => {
  const [, whole = "", hundredths] = /^(.*\d)[.,](\d\d)$/.exec(amount) ?? [];
  const language = languageOf(lang);
  if (hundredths === undefined || !cent || !saysCents.has(language)) return say(name, amount, lang);
  const cents = hundredths.replace(/^0/, "");
  if (cents === "0") return say(name, whole, lang);
  if (whole === "0") return say(cent, cents, lang);
  const rest = language === "en" ? `and ${say(cent, cents, lang)}` : (connectors[language] ?? "") + cents;
  return `${say(name, whole, lang)} ${rest}`;
};
