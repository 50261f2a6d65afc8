/** A basic language range (RFC 4647, 2.1). */
export const languageRange = /^(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/;

/**
 * True if the language is in the range, by basic filtering (RFC 4647, 3.3.1): `en` and `*` match
 * `en-GB`. Other codes of the same language match too: `cmn-CN` is in `zh`, `fil-PH` in `tl`,
 * `zh-TW` in `zh-Hant`.
 */
export const isInRange = (lang: string, range: string): boolean =>
  isInBasicRange(lang, range) || isInSpokenRange(lang, range);

const isInBasicRange = (lang: string, range: string): boolean => {
  const [whole, prefix] = [lang.toLowerCase(), range.toLowerCase()];
  return prefix === "*" || whole === prefix || whole.startsWith(`${prefix}-`);
};

const isInSpokenRange = (lang: string, range: string): boolean => {
  const [spoken, wanted] = [spokenLocale(lang), spokenLocale(range)];
  if (!spoken || !wanted) return false;
  const isChinese = spoken.language === "yue" && /^zh(?!-cmn|[^-])/i.test(range);
  return (
    (spoken.language === wanted.language || isChinese) &&
    (wanted.script === undefined || spoken.maximize().script === wanted.script) &&
    (wanted.region === undefined || spoken.region === wanted.region) &&
    !hasVariants(wanted)
  );
};

/** True if the tag has more than language, script and region. No other code matches such a tag. */
const hasVariants = (tag: Intl.Locale): boolean => {
  const { language, script, region } = tag;
  return tag.toString() !== [language, script, region].filter((subtag) => subtag !== undefined).join("-");
};

/**
 * True if both codes are of the same language in the same region: `cmn-CN` and `zh-CN`, `yue` and
 * `zh-HK`.
 */
export const isSameLanguage = (a: string, b: string): boolean => a === b || keyOf(a) === keyOf(b);

/**
 * The best available match for a language, or undefined. It tries, in this order: the exact code;
 * the code in another case; another code of the language (`en-UK`, `iw`, `cmn-CN`); the nearest
 * region; fewer subtags (RFC 4647, lookup). A shorter tag stands for its most likely region
 * (`de-AT` → `de-DE`, `en` → `en-US`, `pt` → `pt-BR`). Another language never matches. Of equal
 * matches, the first one is used.
 */
export const matchLanguage = (wanted: string, available: readonly string[]): string | undefined => {
  if (available.includes(wanted)) return wanted;
  const same = available.find((one) => one.toLowerCase() === wanted.toLowerCase());
  if (same) return same;
  const tag = spokenLocale(wanted);
  if (tag === undefined) return undefined;
  const byKey = new Map(available.toReversed().map((one) => [keyOf(one), one]));
  for (const step of fallbackTags(tag)) {
    const found = byKey.get(step.toLowerCase());
    if (found) return found;
  }
  return available.find((one) => spokenLocale(one)?.language === tag.language);
};

const keyOf = (tag: string): string => (spokenLocale(tag)?.toString() ?? tag).toLowerCase();

/**
 * Returns one locale for all codes of a spoken language. Intl resolves CLDR's aliases, but not
 * extended languages (`zh-yue`). Bokmål and Nynorsk are two ways to write, and Chinese of Hong Kong
 * counts as Cantonese, as with all providers.
 */
const spokenLocale = (tag: string): Intl.Locale | undefined => {
  const known = spokenLocales.get(tag);
  if (known) return known;
  const locale = localeOf(tag.replace(/^[a-z]{2,3}-(?=[a-z]{3}(?:-|$))/i, ""));
  const spoken = locale && new Intl.Locale(locale, { language: spokenLanguage(locale) });
  if (!spoken) return undefined;
  if (spokenLocales.size >= cachedTags) spokenLocales.clear();
  spokenLocales.set(tag, spoken);
  return spoken;
};

const spokenLocales = new Map<string, Intl.Locale>();
/** The cache is bounded, because tags also come from requests. */
const cachedTags = 1000;

const spokenLanguage = ({ language, region }: Intl.Locale): string => {
  if (language === "no" || language === "nn") return "nb";
  return language === "zh" && (region === "HK" || region === "MO") ? "yue" : language;
};

/** Returns undefined for a text that is no language tag. */
export const localeOf = (tag: string): Intl.Locale | undefined => {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined;
  }
};

/**
 * Regions whose parent locale is not the language's most likely region (after CLDR's
 * parentLocales).
 */
const parentRegions: readonly { readonly to: string; readonly of: string }[] = [
  { to: "en-029", of: "AG BB BS DM GD GY JM KN LC TT VC" },
  { to: "en-GB", of: "AU BW CY GG GH GI HK IE IM IN JE KE LK MT MY NG NZ PK SG TZ UG ZA ZM ZW" },
  { to: "es-419", of: "AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE" },
  { to: "pt-PT", of: "AO CH CV GW LU MO MZ ST TL" },
];

function* fallbackTags(tag: Intl.Locale): Generator<string> {
  const { language, region } = tag;
  yield tag.baseName;
  if (region) {
    yield `${language}-${region}`;
    for (const { to, of } of parentRegions)
      if (to.startsWith(`${language}-`) && of.split(" ").includes(region)) yield to;
  }
  for (
    let rest: string = tag.baseName;
    rest !== "";
    rest = rest.slice(0, Math.max(rest.lastIndexOf("-"), 0))
  ) {
    yield rest;
    const likely = new Intl.Locale(rest).maximize().region;
    if (likely) yield `${language}-${likely}`;
  }
}
