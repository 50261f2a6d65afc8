import { number } from "./amounts.ts";
import { cardinal, decimal, plural } from "./number-words.ts";
import { anyOf, type Dialect, end, pattern, type Rule, signBefore } from "./rule.ts";
import { isNoun, unitOf } from "./units.ts";

interface Currency {
  readonly one: string;
  readonly many: string;
  readonly cent?: string;
  readonly cents?: string;
}

const withCents = (one: string, many = `${one}s`): Currency => ({ one, many, cent: "cent", cents: "cents" });
const dollar = withCents("dollar");
const euro = withCents("euro");
const pound: Currency = { one: "pound", many: "pounds", cent: "penny", cents: "pence" };
const rupee: Currency = { one: "rupee", many: "rupees", cent: "paisa", cents: "paise" };
const franc = withCents("Swiss franc");
const same = (name: string): Currency => ({ one: name, many: name });
const other = (one: string): Currency => ({ one, many: plural(one) });
const dollarOf = (country: string): Currency => withCents(`${country} dollar`);

/** Signs and codes. */
const currencies: Readonly<Record<string, Currency>> = {
  $: dollar,
  "£": pound,
  "€": euro,
  "¥": same("yen"),
  "₹": rupee,
  Rs: rupee,
  "₽": other("ruble"),
  "₩": same("won"),
  "₺": same("lira"),
  "₴": same("hryvnia"),
  "₪": other("shekel"),
  "₫": same("dong"),
  "₿": other("bitcoin"),
  US$: dollarOf("U.S"),
  C$: dollarOf("Canadian"),
  CA$: dollarOf("Canadian"),
  A$: dollarOf("Australian"),
  AU$: dollarOf("Australian"),
  NZ$: dollarOf("New Zealand"),
  HK$: dollarOf("Hong Kong"),
  S$: dollarOf("Singapore"),
  R$: other("Brazilian real"),
  USD: dollarOf("U.S"),
  CAD: dollarOf("Canadian"),
  AUD: dollarOf("Australian"),
  NZD: dollarOf("New Zealand"),
  HKD: dollarOf("Hong Kong"),
  SGD: dollarOf("Singapore"),
  GBP: pound,
  EUR: euro,
  JPY: same("yen"),
  CNY: same("yuan"),
  INR: rupee,
  CHF: franc,
  SEK: { one: "Swedish krona", many: "Swedish kronor" },
  NOK: { one: "Norwegian krone", many: "Norwegian kroner" },
  DKK: { one: "Danish krone", many: "Danish kroner" },
  PLN: same("zloty"),
  BTC: other("bitcoin"),
};

const sign = "((?:US|CA?|AU?|NZ|HK|S|R)?\\$|[£€¥₹₽₩₺₴₪₫₿]|Rs\\.?(?=\\s?\\d))";
const code = `(${anyOf(
  Object.keys(currencies)
    .filter((key) => /^[A-Z]{3}$/.test(key))
    .join(" "),
)})`;

const scales: Readonly<Record<string, string>> = {
  k: "thousand",
  m: "million",
  mn: "million",
  mm: "million",
  mio: "million",
  b: "billion",
  bn: "billion",
  t: "trillion",
  tn: "trillion",
};
const scaleWord = "[Hh]undred|[Tt]housand|[Mm]illion|[Bb]illion|[Tt]rillion|[Cc]rore|[Ll]akh";
const scale = String.raw`(?:\s?(mio|mn|bn|tn|(?<!\s)(?:mm|[kKmMbBtT])|(?:hundred |thousand |-)?(?:${scaleWord})s?)(?![\p{L}\p{N}]))?`;
const until = String.raw`(?:\s?[-–—]\s?(?:(?:US|CA?|AU?|NZ|HK|S|R)?\$|[£€¥₹₽₩₺₴₪₫₿])?(${number}))?`;
const rate = String.raw`(?:\/(\p{L}{1,12})(?![\p{L}\p{N}]))?`;
const article = "(?<=(\\b[Aa]n?\\s)?)";
const next = "(?=(\\s[a-z]+)?)";

interface Sum {
  readonly currency: Currency | undefined;
  readonly sign: string | undefined;
  readonly first: string;
  readonly second: string | undefined;
  readonly scale: string | undefined;
  readonly rate: string | undefined;
  readonly isAdjective: boolean;
}

const say = (sum: Sum, dialect: Dialect): string | undefined => {
  const { currency, first, second, rate, isAdjective } = sum;
  if (!currency) return undefined;
  const written = sum.scale?.toLowerCase().replace(/^-|(?<=..)s$/g, "");
  const scale = written && ` ${scales[written] ?? written}`;
  const name = isAdjective ? currency.one : currency.many;
  const amount =
    second === undefined && scale === undefined
      ? exact(first, { ...currency, ...(isAdjective && { many: currency.one }) }, dialect)
      : `${decimal(first, dialect)}${second ? ` to ${decimal(second, dialect)}` : ""}${scale ?? ""} ${name}`;
  const per = rate === undefined ? "" : ` per ${rates[rate] ?? unitOf(rate)?.one ?? rate}`;
  return `${sum.sign ? "minus " : ""}${amount}${per}`;
};

/** "5.50" as units and hundredths, which are left out if they are zero. */
const exact = (written: string, { one, many, cent, cents }: Currency, dialect: Dialect): string => {
  const [, units = written, hundredths = ""] = /^([\d,]*)\.(\d\d)$/.exec(cent ? written : "") ?? [];
  const whole = `${decimal(units || "0", dialect)} ${units === "1" ? one : many}`;
  if (hundredths === "") return whole;
  if (hundredths === "00") return whole;
  const rest = `${cardinal(hundredths, dialect)} ${hundredths === "01" ? cent : cents}`;
  return /[1-9]/.test(units) ? `${whole} and ${rest}` : rest;
};

const rates: Readonly<Record<string, string>> = { mo: "month", hr: "hour", h: "hour", min: "minute" };

export const moneyRules: readonly Rule[] = [
  [
    pattern(
      article,
      "(?<![\\p{L}\\p{N}])",
      signBefore,
      sign,
      "\\s?(-)?",
      `(${number})`,
      until,
      scale,
      "(?![\\p{L}\\p{N}])",
      rate,
      next,
    ),
    ([, article, before, sign = "", after, first = "", second, scale, rate, next = ""], dialect) =>
      say(
        {
          currency: currencies[sign.replace(".", "")],
          sign: before ?? after,
          first,
          second,
          scale,
          rate,
          isAdjective:
            (article !== undefined || scale?.startsWith("-") === true) && rate === undefined && isNoun(next),
        },
        dialect,
      ),
  ],
  [
    pattern("(?<![\\p{L}\\p{N}])", code, "\\s?(-)?", `(${number})`, until, scale, end),
    ([, code = "", sign, first = "", second, scale], dialect) =>
      say(
        { currency: currencies[code], sign, first, second, scale, rate: undefined, isAdjective: false },
        dialect,
      ),
  ],
  [
    // The currency may follow the number: "5 GBP", "5€".
    pattern(
      signBefore,
      "(?<![\\p{L}\\p{N}_.,]|\\d[-–—/:])",
      `(${number})`,
      until,
      scale,
      `(?:\\s?${code}|(?:(?<=\\d)|\\s?(?=€))${sign})`,
      "(?![\\p{L}\\p{N}])",
      rate,
    ),
    ([, sign, first = "", second, scale, code = "", after = "", rate], dialect) =>
      say(
        { currency: currencies[code || after], sign, first, second, scale, rate, isAdjective: false },
        dialect,
      ),
  ],
  [
    pattern("(?<![\\p{L}\\p{N}_.,]|\\d[-–—/:])", `(${number})\\s?¢`),
    ([, count = ""], dialect) => `${decimal(count, dialect)} ${count === "1" ? "cent" : "cents"}`,
  ],
  [
    /(?<![\p{L}\p{N}_.,#]|\d[-–—/:]|\bp\.? )([1-9]\d?)p(?![\p{L}\p{N}_])/gu,
    ([, count = ""], dialect) => `${cardinal(count, dialect)} ${count === "1" ? "penny" : "pence"}`,
  ],
];
