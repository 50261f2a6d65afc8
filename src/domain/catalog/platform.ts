import type { EventOf } from "../shape.ts";
import type { platformShapes, ReportedVoice } from "./event-shapes.ts";
import { ownName } from "./native-voice.ts";
import { type Browser, majorVersion, type OperatingSystem } from "./platform-names.ts";
import { languageTag } from "./voice-schema.ts";

/**
 * The voices reported for one browser on one operating system. Stream `platform-{browser}-{os}`;
 * the number of streams is bounded. It contains no personal data: neither the reporter nor an
 * address.
 */
export type PlatformEvent = EventOf<typeof platformShapes>;

/** The versions are the earliest reported major ones; 0 if a report had none. */
export interface KnownVoice extends ReportedVoice {
  readonly browserVersion: number;
  readonly osVersion: number;
  /** The number of events that reported it. */
  readonly reports: number;
}

/** Keys are `voiceKey`s. */
export interface Platform {
  readonly voices: Readonly<Record<string, KnownVoice>>;
}

/**
 * Reports come from any browser, so the events per platform are bounded. Voices of the catalog have
 * a higher limit than others.
 */
export const platformLimits = { voices: 500, catalogVoices: 1_000, reportsPerVoice: 10 } as const;

export const platformStream = (browser: Browser, os: OperatingSystem): string => `platform-${browser}-${os}`;

export const initialPlatform = (): Platform => ({ voices: {} });

const evolvePlatform = (platform: Platform, event: PlatformEvent): Platform => {
  if (event.type !== "VoicesReported") return platform;
  const { browserVersion, osVersion, voices } = event.data;
  const reported = voices.map((voice): [string, KnownVoice] => {
    const key = voiceKey(voice);
    const was = platform.voices[key];
    return [
      key,
      {
        ...voice,
        browserVersion: Math.min(browserVersion, was?.browserVersion ?? browserVersion),
        osVersion: Math.min(osVersion, was?.osVersion ?? osVersion),
        reports: (was?.reports ?? 0) + 1,
      },
    ];
  });
  return { voices: { ...platform.voices, ...Object.fromEntries(reported) } };
};

export const platformDecider = { initial: initialPlatform, evolve: evolvePlatform };

export interface ReportVoices {
  readonly browserVersion: number;
  readonly osVersion: number;
  /** Voices that `normalizeVoice` has accepted. */
  readonly voices: readonly ReportedVoice[];
  /** True if it is one of the catalog's native voices. */
  readonly isInCatalog: (voice: ReportedVoice) => boolean;
  readonly at: string;
}

/** Records what is new in a report. A repeated report has nothing new. */
export const reportVoices = (
  { voices: known }: Platform,
  { voices, browserVersion, osVersion, isInCatalog, at }: ReportVoices,
): PlatformEvent[] => {
  let count = Object.keys(known).length;
  const hasRoom = (voice: ReportedVoice): boolean =>
    count < (isInCatalog(voice) ? platformLimits.catalogVoices : platformLimits.voices);
  const isNews = (voice: ReportedVoice): boolean => {
    const was = known[voiceKey(voice)];
    if (was === undefined) {
      if (!hasRoom(voice)) return false;
      count += 1;
      return true;
    }
    const isEarlier = browserVersion < was.browserVersion || osVersion < was.osVersion;
    return isEarlier && was.reports < platformLimits.reportsPerVoice;
  };
  const different = new Map(voices.map((voice) => [voiceKey(voice), voice]));
  const news = [...different.values()].filter(isNews);
  if (news.length === 0) return [];
  return [{ type: "VoicesReported", data: { browserVersion, osVersion, voices: news, at } }];
};

/** The major version; 0 if there is none. */
export const majorVersionOrZero = (version: string): number => majorVersion(version) ?? 0;

/** Letters of any script, digits and some punctuation: no path, no address, no long number. */
const plausibleName = /^(?!.*\d{5})[\p{L}\p{N}][\p{L}\p{M}\p{N} .,'’&+_-]{0,99}$/u;

/** A reported voice in normal form, or undefined for an implausible name or language. */
export const normalizeVoice = (voice: ReportedVoice): ReportedVoice | undefined => {
  const name = ownName(voice.name).trim();
  const lang = voice.lang.replaceAll("_", "-");
  if (!plausibleName.test(name) || !languageTag.safeParse(lang).success) return undefined;
  const [canonical = lang] = Intl.getCanonicalLocales(lang);
  return { name, lang: canonical, localService: voice.localService };
};

/** Starts with the language, so that a name such as `__proto__` is never the key. */
const voiceKey = ({ name, lang }: ReportedVoice): string => `${lang} ${name}`;
