/** CLDR has no words for the content in its language. */
type Unknown = "unknown";

const isKnown = (lang: string): boolean => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(lang).length > 0;
  } catch {
    return false; // an invalid language tag
  }
};

type Field = "day" | "month" | "year";
const fieldNames: Readonly<Record<string, Field>> = { d: "day", m: "month", y: "year" };

/**
 * A date in words; undefined if the content is no date in this format (`mdy`, `yyyymmdd`, `md`,
 * …).
 */
export const dateOf = (
  content: string,
  format: string | undefined,
  lang: string,
): string | undefined | Unknown => {
  if (/\p{L}/u.test(content)) return content; // its month is a word
  const fields = fieldsOf(content, format, lang);
  const values = valuesOf(content, fields);
  if (!values) return undefined;
  if (!isKnown(lang)) return "unknown";
  const { day = 1, month = 1, year = 2000 } = values;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return new Intl.DateTimeFormat(lang, {
    ...{ timeZone: "UTC", calendar: "gregory", numberingSystem: "latn" },
    ...(fields.includes("day") && { day: "numeric" }),
    ...(fields.includes("month") && { month: "long" }),
    ...(fields.includes("year") && { year: "numeric" }),
  }).format(date);
};

const fieldsOf = (content: string, format: string | undefined, lang: string): readonly Field[] => {
  if (format !== undefined)
    return Array.from(new Set(format.toLowerCase()), (letter) => fieldNames[letter] ?? []).flat();
  if (/^\d{4}/.test(content)) return ["year", "month", "day"];
  const parts = new Intl.DateTimeFormat(isKnown(lang) ? lang : "en", { calendar: "gregory" }).formatToParts(
    0,
  );
  return parts.flatMap(({ type }) => (type === "day" || type === "month" || type === "year" ? type : []));
};

const valuesOf = (content: string, fields: readonly Field[]): Partial<Record<Field, number>> | undefined => {
  const groups = /^\d{3,8}$/.test(content) ? withoutSeparators(content, fields) : content.match(/\d+/g);
  if (fields.length === 0 || groups?.length !== fields.length || !/^[\d\s./-]+$/.test(content))
    return undefined;
  const values = Object.fromEntries(fields.map((field, at) => [field, Number(groups[at])]));
  const written = groups[fields.indexOf("year")];
  if (written !== undefined && written.length <= 2)
    values.year = Number(written) + (Number(written) < 70 ? 2000 : 1900);
  return values;
};

const withoutSeparators = (content: string, fields: readonly Field[]): string[] => {
  let at = 0;
  return fields.map((field) => {
    const width = field === "year" ? (content.length > 4 || fields.length === 1 ? 4 : 2) : 2;
    at += width;
    return content.slice(at - width, at);
  });
};

/** `1'21"` in words: a minute and seconds. Undefined for other times. */
export const durationOf = (content: string, lang: string): string | undefined | Unknown => {
  const [, minutes, seconds] = /^(\d{1,3})['′](?:(\d{1,2})(?:"|″|'')?)?$/.exec(content) ?? [];
  if (minutes === undefined) return undefined;
  if (!isKnown(lang)) return "unknown";
  const parts = [inUnit(minutes, "minute", lang), seconds && inUnit(seconds, "second", lang)];
  return parts.filter(Boolean).join(" ");
};

/**
 * `USD 42.01` in words. Undefined without a currency's code: a sign such as `$` is read as in other
 * texts.
 */
export const moneyOf = (content: string, lang: string): string | undefined | Unknown => {
  const [, before, digits = "", after] = /^([A-Z]{3})?\s*([\d.,]{1,100})\s*([A-Z]{3})?$/.exec(content) ?? [];
  const currency = before ?? after;
  if (currency === undefined) return undefined;
  if (!isKnown(lang) || !Intl.supportedValuesOf("currency").includes(currency)) return "unknown";
  const sum = numberOf(digits);
  return new Intl.NumberFormat(lang, {
    ...{ style: "currency", currency, currencyDisplay: "name", numberingSystem: "latn" },
    ...(/^\d+(?:\.0*)?$/.test(sum) && { maximumFractionDigits: 0 }),
  }).format(sum);
};

const units: Readonly<Record<string, string>> = {
  ...{ mm: "millimeter", cm: "centimeter", m: "meter", km: "kilometer" },
  ...{ in: "inch", ft: "foot", yd: "yard", mi: "mile", ha: "hectare" },
  ...{ g: "gram", kg: "kilogram", oz: "ounce", lb: "pound", lbs: "pound" },
  ...{ ml: "milliliter", mL: "milliliter", l: "liter", L: "liter", gal: "gallon" },
  ...{ ms: "millisecond", s: "second", sec: "second", min: "minute", h: "hour", hr: "hour" },
  ...{ "°C": "celsius", "°F": "fahrenheit", "°": "degree", "%": "percent" },
  ...{
    "km/h": "kilometer-per-hour",
    kph: "kilometer-per-hour",
    mph: "mile-per-hour",
    "m/s": "meter-per-second",
  },
  ...{ kB: "kilobyte", KB: "kilobyte", MB: "megabyte", GB: "gigabyte", TB: "terabyte" },
};

/** `10 kg` in words. Undefined for other units, which are read as in other texts. */
export const unitOf = (content: string, lang: string): string | undefined | Unknown => {
  const [, digits = "", symbol = ""] = /^(\d[\d.,]{0,99})\s?(\S+)$/.exec(content) ?? [];
  const unit = Object.hasOwn(units, symbol) ? units[symbol] : undefined;
  if (unit === undefined) return undefined;
  return isKnown(lang) ? inUnit(digits, unit, lang) : "unknown";
};

const inUnit = (digits: string, unit: string, lang: string): string =>
  new Intl.NumberFormat(lang, {
    ...{ style: "unit", unit, unitDisplay: "long", numberingSystem: "latn", maximumFractionDigits: 100 },
  }).format(numberOf(digits));

/**
 * `1,234.5`, `1.234,5` and `1,5`: the last separator is the decimal one unless three digits follow
 * it. Returns a string, because a number would lose digits after the sixteenth.
 */
const numberOf = (digits: string): Intl.StringNumericLiteral => {
  const [, whole = digits, fraction = ""] = /^(.*)[.,](\d*)$/.exec(digits) ?? [];
  const isDecimal = fraction.length !== 3 || /^0?$/.test(whole);
  const plain = (part: string): string => part.replace(/[.,]/g, "");
  return (isDecimal ? `${plain(whole)}.${fraction}` : plain(digits)) as Intl.StringNumericLiteral;
};

const fractionSigns: Readonly<Record<string, string>> = {
  ...{ "1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "2/5": "⅖", "3/5": "⅗" },
  ...{ "4/5": "⅘", "1/6": "⅙", "5/6": "⅚", "1/7": "⅐", "1/8": "⅛", "3/8": "⅜", "5/8": "⅝", "7/8": "⅞" },
  ...{ "1/9": "⅑", "1/10": "⅒" },
};

/** `3/4`, `1+1/2` and `2 3/4`, written with the sign of the fraction (`¾`), except in English. */
export const fractionOf = (content: string, lang: string): string | undefined | Unknown => {
  const [, whole, over, under] =
    /^(?:(\d{1,6})\s?[+\s]\s?)?(\d{1,4})\s?[/⁄]\s?(\d{1,4})$/.exec(content) ?? [];
  if (over === undefined) return undefined;
  const sign = fractionSigns[`${over}/${under}`];
  if (/^en\b/i.test(lang)) return whole === undefined ? `${over}/${under}` : `${whole} ${over}/${under}`;
  return sign === undefined ? "unknown" : (whole ?? "") + sign;
};
