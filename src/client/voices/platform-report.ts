import type { Brand, NativeVoice, PageNavigator } from "../dom.ts";
import type { BrowserVoiceInfo, PlatformReport } from "./voices.ts";

/** What the page runs on: as the browser tells it, or else as its user agent string gives it away. */
export const platformOf = async (navigator: PageNavigator): Promise<PlatformReport> => {
  const told = fromUserAgent(navigator);
  const { userAgentData } = navigator;
  if (!userAgentData) return told;
  const high = await userAgentData
    .getHighEntropyValues(["platformVersion", "fullVersionList"])
    .catch(() => undefined);
  const brand = knownBrand(high?.fullVersionList ?? userAgentData.brands);
  return {
    ...told,
    ...(brand && { browser: brandNames[brand.brand] ?? told.browser, browserVersion: brand.version }),
    ...(userAgentData.platform && { os: userAgentData.platform }),
    ...(high?.platformVersion && { osVersion: high.platformVersion }),
  };
};

/** The browser's voices, as the service takes them. */
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

/** The most telling of the brands that a browser goes by; Chromium is among all of them. */
const knownBrand = (brands: readonly Brand[]): Brand | undefined =>
  Object.keys(brandNames)
    .map((name) => brands.find(({ brand }) => brand === name))
    .find((brand) => brand !== undefined);

/** The first that fits: every browser but Firefox also claims to be others. */
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
  // An iPad asks for desktop pages as a Mac does; no Mac has a touch screen.
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
