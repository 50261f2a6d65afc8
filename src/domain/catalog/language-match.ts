/** A basic language range (RFC 4647, 2.1). */
export const languageRange = /^(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/;

/** True if the language is in the range, by basic filtering (RFC 4647, 3.3.1): `en` and `*` match `en-GB`. */
export const isInRange = (lang: string, range: string): boolean => {
  const [whole, prefix] = [lang.toLowerCase(), range.toLowerCase()];
  return prefix === "*" || whole === prefix || whole.startsWith(`${prefix}-`);
};

/**
 * The best available match for a language, or undefined. Compares exactly; ignoring case; by canonical code (`en-UK`,
 * `iw`); by the nearest region; then with fewer subtags (RFC 4647, lookup), where a shorter tag stands for its most likely
 * region (`de-AT` → `de-DE`, `en` → `en-US`, `pt` → `pt-BR`). Never another language. The first of equal matches is used.
 */
export const matchLanguage = (wanted: string, available: readonly string[]): string | undefined => {
  if (available.includes(wanted)) return wanted;
  const find = (tag: string) => available.find((one) => one.toLowerCase() === tag.toLowerCase());
  const same = find(wanted);
  if (same) return same;
  const tag = localeOf(renamed(wanted));
  if (tag === undefined) return undefined;
  for (const step of fallbackTags(tag)) {
    const found = find(step);
    if (found) return found;
  }
  return available.find((one) => one.startsWith(`${tag.language}-`));
};

/** Common aliases of the catalog's codes. */
const renamed = (tag: string): string =>
  tag
    .replace(/^no(?=-|$)/i, "nb")
    .replace(/^zh-cmn(?=-|$)/i, "zh")
    .replace(/^(zh-)?yue(-.*)?$/i, "zh-HK");

/** Undefined for a text that is no language tag. */
export const localeOf = (tag: string): Intl.Locale | undefined => {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined;
  }
};

/** Regions whose parent locale is not the language's most likely region (after CLDR's parentLocales). */
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
