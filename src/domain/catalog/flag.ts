import { localeOf } from "./language-match.ts";

/**
 * The country whose flag stands for a language: ISO 3166-1 alpha-2 in lower case; `xx` where there
 * is none.
 */
export const flagOf = (lang: string): string => {
  const locale = localeOf(lang);
  const region = locale?.region;
  return (isCountry(region) ? region : likeliestRegion(locale)).toLowerCase();
};

/**
 * Regions of several countries have numbers (es-419). Google lists Arabic as ar-XA; XA is not
 * assigned.
 */
const isCountry = (region: string | undefined): region is string =>
  region !== undefined && /^[A-Z]{2}$/.test(region) && region !== "XA";

const likeliestRegion = (locale: Intl.Locale | undefined): string => {
  const region = locale && localeOf(locale.language)?.maximize().region;
  return isCountry(region) ? region : "xx";
};
