import type { BrowserVoiceInfo, PlatformReport } from "../api/voices.ts";
import type { Brand, NativeVoice, PageNavigator } from "../dom.ts";

/**
 * The platform of the page: from the browser's user agent client hints, or else from its user agent
 * string.
 */
export const platformOf = async (navigator: PageNavigator): Promise<PlatformReport> => {
  const platform = fromUserAgent(navigator);
  const { userAgentData } = navigator;
  if (!userAgentData) return platform;
  const hints = await userAgentData
    .getHighEntropyValues(["platformVersion", "fullVersionList"])
    .catch(() => undefined);
  const brand = knownBrand(hints?.fullVersionList ?? userAgentData.brands);
  return {
    ...platform,
    ...(brand && { browser: brandNames[brand.brand] ?? platform.browser, browserVersion: brand.version }),
    ...(userAgentData.platform && { os: userAgentData.platform }),
    ...(hints?.platformVersion && { osVersion: hints.platformVersion }),
  };
};

/**
 * A voice as `POST /v2/voices/report` accepts it. The members are copied, because a
 * SpeechSynthesisVoice has no own enumerable properties.
 */
export const voiceInfo = ({
  name,
  lang,
  voiceURI,
  localService,
  default: isDefault,
}: NativeVoice): BrowserVoiceInfo => ({ name, lang, voiceURI, localService, default: isDefault });

const brandNames: Readonly<Record<string, string>> = {
  "Microsoft Edge": "Edge",
  Opera: "Opera",
  "Samsung Internet": "Samsung Internet",
  "Google Chrome": "Chrome",
  Chromium: "Chromium",
};

/** The most specific of a browser's brands: browsers based on Chromium also list `Chromium`. */
const knownBrand = (brands: readonly Brand[]): Brand | undefined =>
  Object.keys(brandNames)
    .map((name) => brands.find(({ brand }) => brand === name))
    .find((brand) => brand !== undefined);

/**
 * The browsers in order of precedence: the user agents of most browsers also contain the names of
 * others.
 */
const browsers: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(?:e|A|iOS)?\/([\d.]+)/],
  ["Opera", /\bOPR\/([\d.]+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/([\d.]+)/],
  ["Samsung Internet", /\bSamsungBrowser\/([\d.]+)/],
  ["Chrome", /\b(?:Headless)?(?:Chrome|CriOS)\/([\d.]+)/],
  ["Safari", /\bVersion\/([\d.]+).* Safari\//],
];

const systems: readonly (readonly [string, RegExp])[] = [
  ["iOS", /\b(?:iPhone|iPad|iPod)\b.*? OS ([\d_]+)/],
  ["Android", /\bAndroid ?([\d.]*)/],
  ["Windows", /\bWindows NT ([\d.]+)/],
  ["macOS", /\bMac OS X ([\d_.]+)/],
  ["Chrome OS", /\bCrOS \S+ ([\d.]+)/],
  ["Linux", /\bLinux\b()/],
];

const fromUserAgent = ({ userAgent, maxTouchPoints = 0, userAgentData }: PageNavigator): PlatformReport => {
  const [browser, browserVersion] = firstOf(browsers, userAgent);
  const [os, osVersion] = firstOf(systems, userAgent);
  // An iPad sends the user agent of a Mac, and no Mac has a touch screen.
  const isPad = os === "macOS" && maxTouchPoints > 1;
  const isMobile = userAgentData?.mobile ?? /\bMobile\b/.test(userAgent);
  const isTablet = isPad || /\biPad\b/.test(userAgent) || (os === "Android" && !isMobile);
  const deviceType = isTablet ? "tablet" : isMobile ? "mobile" : "desktop";
  return {
    browser,
    browserVersion,
    os: isPad ? "iOS" : os,
    osVersion: osVersion.replaceAll("_", "."),
    deviceType,
  };
};

const firstOf = (
  known: readonly (readonly [string, RegExp])[],
  userAgent: string,
): readonly [name: string, version: string] => {
  for (const [name, pattern] of known) {
    const match = pattern.exec(userAgent);
    if (match) return [name, match[1] || "unknown"];
  }
  return ["unknown", "unknown"];
};
