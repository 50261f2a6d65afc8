import { ordinal, year } from "./number-words.ts";
import { type Dialect, pattern, type Rule } from "./rule.ts";

const months = "January February March April May June July August September October November December".split(
  " ",
);
const weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

/** Finds the full name: "Sept." is September. */
const nameOf = (names: readonly string[], written: string): string =>
  names.find((name) => name.startsWith(written.slice(0, 3))) ?? written;

const abbreviatedMonth = "(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)";
const month = `(${months.join("|")}|${abbreviatedMonth})`;
const weekday = "(?:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)";
const anyWeekday = `(?:${weekdays.join("|")}|${weekday})`;
const suffix = "(?:st|nd|rd|th)?";
const day = "(0?[1-9]|[12]\\d|3[01])";
const fullYear = "([12]\\d{3})";
const notInside = "(?<![\\p{L}\\p{N}_.,/:-])";
const noMore = "(?![\\p{L}\\p{N}_]|[-.,/:]\\d)";

interface CalendarDate {
  readonly day: string;
  readonly until?: string | undefined;
  readonly month: string;
  readonly year?: string | undefined;
}

/** Reads dates as "the third to the fifth of May, twenty twenty-six". */
const dayFirst = (
  { day, until, month, year: written }: CalendarDate,
  dialect: Dialect,
  the = "the ",
): string =>
  `${the}${ordinal(day, dialect)}${until ? ` to the ${ordinal(until, dialect)}` : ""} of ${month}` +
  (written ? `, ${year(written, dialect)}` : "");

const monthFirst = ({ day, until, month, year: written }: CalendarDate, dialect: Dialect): string =>
  `${month} ${ordinal(day, dialect)}${until ? ` to ${ordinal(until, dialect)}` : ""}` +
  (written ? `, ${year(written, dialect)}` : "");

/** A date of numbers, as it is read in this dialect; undefined if there is no such day. */
const inNumbers = (
  { day, month, year }: { readonly day: string; readonly month: string; readonly year: string | undefined },
  dialect: Dialect,
  the?: string,
): string | undefined => {
  const name = months[Number(month) - 1];
  if (name === undefined || Number(day) < 1 || Number(day) > (daysOf[Number(month) - 1] ?? 0))
    return undefined;
  const date = { day: String(Number(day)), month: name, year };
  return dialect === "american" ? monthFirst(date, dialect) : dayFirst(date, dialect, the ? "" : undefined);
};
const daysOf = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads "3/4" in the order of the dialect, "13/4" and "4/13" by their values. */
const eitherOrder = (
  [first, second]: readonly [string, string],
  year: string | undefined,
  dialect: Dialect,
  the?: string,
): string | undefined => {
  const isMonthFirst = Number(second) > 12 || (dialect === "american" && Number(first) <= 12);
  const [day, month] = isMonthFirst ? [second, first] : [first, second];
  return inNumbers({ day, month, year }, dialect, the);
};

/** Completes a year: "26" is 2026, "84" is 1984. */
const inCentury = (written: string): string =>
  written.length === 4 ? written : `${Number(written) < 70 ? "20" : "19"}${written}`;

const the = "(?<=(\\bthe\\s)?)";

export const dateRules: readonly Rule[] = [
  [
    // 2026-11-26, with a time perhaps: 2026-11-26T14:30:00Z.
    pattern(
      the,
      notInside,
      `${fullYear}([-/.])(\\d{1,2})\\3(\\d{1,2})`,
      "(?:T(\\d\\d:\\d\\d(?::\\d\\d)?)(?:\\.\\d+)?(Z)?)?",
      "(?![\\p{L}\\p{N}_-]|[./]\\d)",
    ),
    ([, the, year, , month = "", day = "", time, isUtc], dialect) => {
      const date = inNumbers({ day, month, year }, dialect, the);
      return date && [date, time, isUtc && "UTC"].filter(Boolean).join(time ? " " : "");
    },
  ],
  [
    pattern(
      the,
      notInside,
      `(?:(\\d{1,2})\\/(\\d{1,2})\\/(\\d{4}|\\d{2})|(\\d{1,2})([-.])(\\d{1,2})\\6(\\d{4}))`,
      "(?![\\p{L}\\p{N}_-]|[./]\\d)",
    ),
    ([, the, a, b, short, c = "", , d = "", long = ""], dialect) =>
      eitherOrder([a ?? c, b ?? d], inCentury(short ?? long), dialect, the),
  ],
  [
    // A date without a year is read only where a date is expected, as in "on 11/26".
    pattern(
      "(?<=\\b(?:[Oo]n|[Bb]y|[Uu]ntil|[Ss]ince|[Bb]efore|[Dd]ue|[Dd]ated?:?)\\s)",
      "(?!9\\/11|24\\/7)(\\d{1,2})\\/(\\d{1,2})(?![\\p{L}\\p{N}_/-])",
    ),
    ([, first = "", second = ""], dialect) => eitherOrder([first, second], undefined, dialect),
  ],
  [
    // 11/2026
    pattern(notInside, `(0?[1-9]|1[0-2])\\/(20\\d\\d)`, noMore),
    ([, month, digits = ""], dialect) => `${months[Number(month) - 1]} ${year(digits, dialect)}`,
  ],
  [
    // 3–5 May 2026, 26th of Nov., 26-Nov-2026
    pattern(
      the,
      "(?<![\\p{L}\\p{N}_.,/:-]|[$£€#]|\\d[–—])",
      `(?:${day}${suffix}\\s?(?:[-–—]|to|and|&)\\s?)?${day}${suffix}(?:\\s(?:of\\s)?|-)${month}(?![\\p{L}\\p{N}_])(?<!May(?=\\s(?:be|have|not|also|or|need|take|get|seem|want|only|still|come|go|see|find|use|make)(?!\\p{L})))`,
      `(?:\\.(?=\\s?[\\p{Ll}\\d,;:)]))?(?:(?:,?\\s|-)${fullYear}${noMore})?`,
    ),
    ([, the, first, second = "", written = "", year], dialect) =>
      dayFirst(
        {
          day: first ?? second,
          until: first && second,
          month: nameOf(months, written),
          year,
        },
        dialect,
        the ? "" : undefined,
      ),
  ],
  [
    // Nov. 26, 2026; May 3–5
    pattern(
      `(?<![\\p{L}\\p{N}_])${month}\\.?\\s${day}${suffix}(?![\\p{L}\\p{N}_%:°$/]|[.,]\\d)`,
      `(?:\\s?(?:[-–—]|to)\\s?${day}${suffix}(?![\\p{L}\\p{N}_%:/]|[.,]\\d|\\s(?:${month})))?`,
      `(?!\\s(?:percent|people|million|billion|times|years|days|hours|minutes|miles|of\\s(?:them|us|you|these|those))(?![\\p{L}]))`,
      `(?:,?\\s${fullYear}${noMore})?`,
    ),
    ([, written = "", first = "", until, , year], dialect) =>
      monthFirst({ day: first, until, month: nameOf(months, written), year }, dialect),
  ],
  [
    // Mar 2012
    pattern(`(?<![\\p{L}\\p{N}_])${month}\\.?(,?\\s)${fullYear}${noMore}`),
    ([, written = "", between = "", digits = ""], dialect) =>
      nameOf(months, written) + between + year(digits, dialect),
  ],
];

/** Names of months and days without a date beside them. */
export const calendarNameRules: readonly Rule[] = [
  [
    // A month without a number is read only if it is clearly an abbreviation, or where a month is
    // expected: "in Aug. and Oct."
    pattern(
      `(?:(?<=\\b(?:in|of|since|until|till|last|next|early|late|mid)[\\s-])(${abbreviatedMonth})(?!\\p{L})`,
      `|(?<![\\p{L}\\p{N}_])((?!Jan|Mar)${abbreviatedMonth})(?=\\.))`,
      "(?:\\.(?=\\s?[\\p{Ll},;:)]))?",
    ),
    ([, expected, abbreviated = ""]) => nameOf(months, expected ?? abbreviated),
  ],
  [
    // Mon–Fri, Sat & Sun
    pattern(
      `(?<![\\p{L}\\p{N}_'’])(${anyWeekday})(?:\\.?\\s?([-–—])\\s?|(\\.?(?:,\\s|\\s?[/&]\\s?)))(?=${anyWeekday}(?!\\p{L}))`,
    ),
    ([, written = "", range, other = ""]) =>
      nameOf(weekdays, written) + (range ? " to " : other.replace(/[./]/, " ")),
  ],
  [
    // A weekday is read where a day is expected, or beside a date, a time or another day.
    pattern(
      `(?:(?<=\\b(?:[Oo]n|[Ee]very|[Ee]ach|[Ll]ast|[Nn]ext|[Uu]ntil|${weekdays.join("|")})(?:,?\\s| to | ?& ?))(${weekday})(?![\\p{L}'’-]|\\s\\p{Lu})`,
      `|(?<![\\p{L}\\p{N}_])(${weekday})(?=\\.?,?\\s(?:${months.join("|")}|the\\s\\p{L}+\\sof|\\d{1,2}(?::\\d\\d|\\s?[ap]\\.?m))|\\.\\s\\p{Ll})`,
      "|(?<![\\p{L}\\p{N}_])(Tues|Thurs?|Weds?)(?=\\.))",
      "(?:\\.(?=\\s?[\\p{Ll}\\d,;:)]|\\s(?:January|February|March|April|May|June|July|August|September|October|November|December)))?",
    ),
    ([, expected, beside, abbreviated = ""]) => nameOf(weekdays, expected ?? beside ?? abbreviated),
  ],
];
