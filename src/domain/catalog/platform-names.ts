/**
 * The browsers and operating systems of voice reports. Their names are parts of stream names, so
 * they contain no hyphens.
 */
export const browsers = ["chrome", "chromium", "edge", "firefox", "opera", "safari", "samsung"] as const;
export type Browser = (typeof browsers)[number];

export const operatingSystems = ["android", "chromeos", "ios", "linux", "macos", "windows"] as const;
export type OperatingSystem = (typeof operatingSystems)[number];

/** A platform in a client's terms. */
export interface PlatformParameters {
  readonly browser?: string | undefined;
  readonly browserVersion?: string | undefined;
  readonly os?: string | undefined;
  readonly osVersion?: string | undefined;
}

/** A platform query. An absent member matches anything, `unknown` matches nothing. */
export interface PlatformQuery {
  readonly browser?: Browser | "unknown";
  /** The major version. */
  readonly browserVersion?: number;
  readonly os?: OperatingSystem | "unknown";
  readonly osVersion?: number;
}

/** Parses a platform query; undefined if neither browser nor system is named. */
export const parsePlatform = (said: PlatformParameters): PlatformQuery | undefined => {
  if (!said.browser && !said.os) return undefined;
  const browserVersion = majorVersion(said.browserVersion);
  const osVersion = majorVersion(said.osVersion);
  return {
    ...(said.browser && { browser: findBrowser(said.browser) ?? "unknown" }),
    ...(said.browser && browserVersion !== undefined && { browserVersion }),
    ...(said.os && { os: findOperatingSystem(said.os) ?? "unknown" }),
    ...(said.os && osVersion !== undefined && { osVersion }),
  };
};

export const findBrowser = (name: string): Browser | undefined => aliasedBrowsers.get(plain(name));
export const findOperatingSystem = (name: string): OperatingSystem | undefined =>
  aliasedSystems.get(plain(name));

/**
 * `120` of `120.0.6099.109`, `17` of `17_4`; undefined for anything else, or more than three
 * digits.
 */
export const majorVersion = (version: string | undefined): number | undefined => {
  const [, major] = /^\D{0,10}(\d{1,3})(?!\d)/.exec(version ?? "") ?? [];
  return major === undefined ? undefined : Number(major);
};

/** Names from user-agent parsers and client hints; letters and digits only, in lower case. */
const browserAliases: Readonly<Record<Browser, string>> = {
  chrome: "chrome googlechrome chromemobile mobilechrome chromeformobile crios chromewebview",
  chromium: "chromium headlesschrome chromeheadless",
  edge: "edge microsoftedge msedge edg edga edgios edgechromium",
  firefox: "firefox mozillafirefox mobilefirefox firefoxmobile fxios firefoxios",
  opera: "opera opr operamobile operatouch operagx",
  safari: "safari mobilesafari applesafari",
  samsung: "samsung samsunginternet samsungbrowser",
};

const systemAliases: Readonly<Record<OperatingSystem, string>> = {
  android: "android",
  chromeos: "chromeos chromiumos cros",
  ios: "ios ipados iphoneos iphone ipad ipod",
  linux: "linux gnulinux ubuntu debian fedora",
  macos: "macos macosx osx mac macintosh macintel",
  windows: "windows windowsnt microsoftwindows win win32 win64",
};

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

const aliased = <Name extends string>(table: Readonly<Record<Name, string>>): ReadonlyMap<string, Name> =>
  new Map(
    Object.entries<string>(table).flatMap(([name, aliases]) =>
      aliases.split(" ").map((alias): [string, Name] => [alias, name as Name]),
    ),
  );

const aliasedBrowsers = aliased(browserAliases);
const aliasedSystems = aliased(systemAliases);
