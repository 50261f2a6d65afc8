import { cardinal, plural } from "./number-words.ts";
import { anyOf, type Dialect, pattern, type Rule } from "./rule.ts";

const zone = anyOf("UTC GMT EST EDT CST CDT MST MDT PST PDT CET CEST BST IST JST AEST AEDT NZST");
/**
 * The sentence continues after the period of "a.m.", unless a capital letter begins another one.
 */
const half = `(?:\\s?([AaPp])\\.?\\s?[Mm](?![\\p{L}\\p{N}])(?:\\.(?=\\s+(?:[\\p{Ll}\\d(]|(?:${zone}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December)(?!\\p{L}))|[,;:)!?-]))?)`;
const inZone = `(?:\\s(${zone})(?![\\p{L}\\p{N}]))?`;
const notInside = "(?<![\\p{L}\\p{N}_.:/-])";

interface ClockTime {
  readonly hours: string;
  readonly minutes: string;
  readonly seconds?: string | undefined;
  readonly half: string | undefined;
  readonly zone: string | undefined;
}

/**
 * Tools read "a.m" and "E.S.T" as letters, and make no pause after them; flite reads "EST" as a
 * word.
 */
const timeOf = (time: ClockTime, dialect: Dialect): string => {
  const zone = time.zone === undefined ? "" : ` ${Array.from(time.zone).join(".")}`;
  return onClock(time, dialect) + zone;
};

const onClock = ({ hours, minutes, seconds, half }: ClockTime, dialect: Dialect): string => {
  const hour = cardinal(hours, dialect);
  const rest = seconds === undefined || seconds === "00" ? "" : ` and ${count(seconds, "second", dialect)}`;
  const suffix = half === undefined ? "" : ` ${half.toLowerCase()}.m`;
  if (minutes !== "00") {
    const oh = minutes.startsWith("0") ? "oh " : "";
    return `${hour} ${oh}${cardinal(minutes, dialect)}${rest}${suffix}`;
  }
  if (suffix || rest) return `${hour}${suffix || " o'clock"}${rest}`;
  if (Number(hours) % 24 === 0) return "midnight";
  return Number(hours) > 12 ? `${hour} hundred` : `${hour} o'clock`;
};

const count = (digits: string, unit: string, dialect: Dialect): string =>
  `${cardinal(digits, dialect)} ${Number(digits) === 1 ? unit : plural(unit)}`;

export const timeRules: readonly Rule[] = [
  // 9am–5pm, 9:00-17:30
  [
    pattern(
      "(?<=(?<![\\p{L}\\p{N}.,/-])\\d{1,2}(?::\\d\\d)?(?:\\s?[AaPp]\\.?[Mm]\\.?)?)\\s?[-–—]\\s?",
      "(?=\\d{1,2}(?::[0-5]\\d(?![\\d:])|(?:[.:][0-5]\\d)?\\s?[AaPp]\\.?[Mm](?!\\p{L})))",
    ),
    () => " to ",
  ],
  [
    pattern(
      notInside,
      "([01]?\\d|2[0-4]):([0-5]\\d)(?::([0-5]\\d)(?:[.,]\\d+)?)?(?![\\d:])",
      `${half}?${inZone}`,
    ),
    ([, hours = "", minutes = "", seconds, half, zone], dialect) =>
      timeOf({ hours, minutes, seconds, half, zone }, dialect),
  ],
  [
    pattern(notInside, `(1?\\d|2[0-3])(?:\\.([0-5]\\d))?${half}${inZone}`),
    ([, hours = "", minutes = "00", half, zone], dialect) => timeOf({ hours, minutes, half, zone }, dialect),
  ],
  [
    // 2h 15m, 2h15
    /(?<![\p{L}\p{N}_.,])(\d{1,3})\s?h(?:rs?)?\s?(\d{1,2})(?:\s?m(?:ins?)?)?(?:\s?(\d{1,2})\s?s(?:ecs?)?)?(?![\p{L}\p{N}_])/gu,
    ([, hours = "", minutes = "", seconds], dialect) =>
      [
        count(hours, "hour", dialect),
        count(minutes, "minute", dialect),
        seconds && count(seconds, "second", dialect),
      ]
        .filter(Boolean)
        .join(" "),
  ],
  [
    /(?<![\p{L}\p{N}_.,])(\d{1,3})\s?m(?:ins?)?\s?(\d{1,2})\s?s(?:ecs?)?(?![\p{L}\p{N}_])/gu,
    ([, minutes = "", seconds = ""], dialect) =>
      `${count(minutes, "minute", dialect)} ${count(seconds, "second", dialect)}`,
  ],
];
