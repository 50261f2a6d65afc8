import { amount, amountOf, number } from "./amounts.ts";
import { cardinal, decimal, plural } from "./number-words.ts";
import { anyOf, type Dialect, pattern, type Rule, signBefore, start } from "./rule.ts";

/**
 * Each unit as it is written, its singular, and its plural unless that is the singular with an "s".
 */
const table = `
  kg Kg KG kgs: kilogram | g: gram | mg: milligram | µg μg mcg: microgram
  lb lbs: pound | oz: ounce | floz: fluid ounce | gal: gallon | tbsp: tablespoon | tsp: teaspoon
  km Km KM kms: kilometer | m: meter | dm: decimeter | cm: centimeter | mm: millimeter | nm: nanometer
  µm μm: micrometer | km² km2 sqkm: square kilometer | m² m2 sqm: square meter | cm² cm2: square centimeter
  mm² mm2: square millimeter | m³ m3: cubic meter | cm³ cm3: cubic centimeter | ha: hectare
  mi: mile | mi² sqmi: square mile | yd yds: yard | ft: foot, feet | ft² ft2 sqft: square foot, square feet
  ft³ ft3 cuft: cubic foot, cubic feet | in: inch | in² sqin: square inch
  l L: liter | ml mL: milliliter | cl cL: centiliter | dl dL: deciliter
  s sec secs: second | s²: second squared | ms: millisecond | µs μs: microsecond | ns: nanosecond
  h hr hrs: hour | min mins: minute | wk wks: week | mos: month | yr yrs: year
  kmh kmph kph: kilometer per hour, kilometers per hour | mph: mile per hour, miles per hour
  mpg: mile per gallon, miles per gallon | rpm: revolution per minute, revolutions per minute
  bpm: beat per minute, beats per minute | fps: frame per second, frames per second
  ppm: part per million, parts per million | kbps Kbps: kilobit per second, kilobits per second
  Mbps: megabit per second, megabits per second | Gbps: gigabit per second, gigabits per second
  Hz: hertz, hertz | kHz KHz: kilohertz, kilohertz | MHz Mhz: megahertz, megahertz | GHz Ghz: gigahertz, gigahertz
  W: watt | mW: milliwatt | kW KW: kilowatt | MW: megawatt | GW: gigawatt
  Wh: watt hour | kWh KWh kwh: kilowatt hour | MWh: megawatt hour | GWh: gigawatt hour
  V: volt | mV: millivolt | kV: kilovolt | mA: milliampere | mAh: milliampere hour | Ω: ohm | kΩ: kilohm
  kJ: kilojoule | kcal: kilocalorie | hPa: hectopascal | kPa: kilopascal | dB: decibel | px: pixel
  KB kB: kilobyte | MB: megabyte | GB: gigabyte | TB: terabyte | PB: petabyte
  KiB: kibibyte | MiB: mebibyte | GiB: gibibyte | kbit: kilobit | Mb Mbit: megabit | Gb Gbit: gigabit
  °C ºC ℃: degree Celsius, degrees Celsius | °F ºF ℉: degree Fahrenheit, degrees Fahrenheit
  ° º: degree | %: percent, percent | day: day | week: week | month: month | year: year | person: person`;

interface Unit {
  readonly one: string;
  readonly many: string;
}

const units: ReadonlyMap<string, Unit> = new Map(
  table.split(/[|\n]/).flatMap((row) => {
    const [written = "", names = ""] = row.split(":");
    const [one = "", many = plural(one)] = names.trim().split(", ");
    return written.trim() === ""
      ? []
      : written
          .trim()
          .split(" ")
          .map((key) => [key, { one, many }] as const);
  }),
);

export const unitOf = (written: string): Unit | undefined => units.get(written.replace(/[.\s]/g, ""));

/**
 * Units may have blanks and periods, as in "sq. ft" and "° C". "in" is an inch only with a period.
 */
export const writtenUnit = anyOf(
  Array.from(units.keys())
    .sort((a, b) => b.length - a.length)
    .map((key) =>
      key
        .replace(/^(sq|cu|fl)/, "$1\\.?\\s?")
        .replace(/^([°º])(?=.)/, "$1\\s?")
        .replace(/(?<!m)in$/, "in(?=\\.)")
        .replace(/^(day|week|month|year|person)$/, "(?<=\\/)$1"),
    )
    .join("|"),
);
const blank = "[ \\u00a0\\u202f]";

/** The size of these things is given in inches. */
const sized = anyOf("screen monitor display TV laptop pizza vinyl record disc ruler pipe nail tablet");

const directions: Readonly<Record<string, string>> = { N: "north", S: "south", E: "east", W: "west" };

const degrees = (value: string, unit: string, dialect: Dialect): string =>
  `${decimal(value, dialect)} ${value === "1" ? unit : plural(unit)}`;

export const unitRules: readonly Rule[] = [
  [
    // 40° 26′ 46″ N
    /(?<![\w.])(\d+(?:\.\d+)?)°\s?(?:(\d+)['′’]\s?)?(?:(\d+(?:\.\d+)?)["″”]\s?)?([NSEW])(?![\p{L}\p{N}])/gu,
    ([, whole = "", minutes, seconds, direction = ""], dialect) =>
      [
        degrees(whole, "degree", dialect),
        minutes && degrees(minutes, "minute", dialect),
        seconds && degrees(seconds, "second", dialect),
        directions[direction],
      ]
        .filter(Boolean)
        .join(" "),
  ],
  [
    // 5'10"
    /(?<![\p{L}\p{N}_.,'’])(\d{1,3})['′’]\s?(\d{1,2})(?:["″”]|''|(?<=[3-8]['′’](?:\d|1[01]))(?![\p{L}\p{N}.,]))/gu,
    ([, feet = "", inches = ""], dialect) => `${cardinal(feet, dialect)} foot ${cardinal(inches, dialect)}`,
  ],
  [
    pattern(
      start,
      `(${amount})(?:(["″”])|['′])`,
      `(?:(?<=[″′])|(?=\\s?(?:x|×|by|wide|tall|long|deep|thick|high|${sized})(?!\\p{L})))`,
      `(?=(?:\\s?(${sized})(?!\\p{L}))?)`,
    ),
    ([, count = "", isInch, noun], dialect) => {
      const { words, isSingular } = amountOf(count, dialect);
      const [one, many] = isInch ? ["inch", "inches"] : ["foot", "feet"];
      return `${words} ${isSingular || noun ? one : many}`;
    },
  ],
  [
    // A hyphen or an article makes an adjective: "a 5 km run".
    pattern(
      "(?<=(\\b[Aa]n?\\s)?)",
      signBefore,
      start,
      // "in 1992 to 26%"
      "(?!(?<=\\b(?:[Ii]n|[Oo]f|[Ss]ince|[Bb]y|and|or)\\s)(?:1\\d|20)\\d\\d\\sto\\s)",
      `(${amount})(?:\\s?([-–—x×]|to)\\s?(${number}))?(${blank}|-)?(${writtenUnit})(?:\\/(${writtenUnit}))?(?![\\p{L}\\p{N}_²³])`,
      "(?:\\.(?=\\s+[a-z(]))?",
      "(?=(\\s[a-z]+)?)",
    ),
    ([, article, sign, first = "", by, second, separator, unit = "", divisor, next = ""], dialect) => {
      const names = unitOf(unit);
      if (!names) return undefined;
      if (unit === "s" && separator === undefined && /^\d{2,}[1-9]$/.test(first)) return undefined; // Boeing 747s
      const { words, isSingular } = amountOf(first, dialect);
      const until = second && ` ${by === "x" || by === "×" ? "by" : "to"} ${decimal(second, dialect)}`;
      const isAdjective = separator === "-" || (article !== undefined && isNoun(next));
      const name = isAdjective || (isSingular && !second) ? names.one : names.many;
      const per = divisor === undefined ? "" : ` per ${unitOf(divisor)?.one}`;
      return `${sign ? "minus " : ""}${words}${until ?? ""} ${name}${per}`;
    },
  ],
];

/**
 * True if the word after a unit may be a noun, as in "a 5 km run". It is empty, or begins with a
 * blank. Words such as "and", which follow nouns, are not nouns.
 */
export const isNoun = (word: string): boolean =>
  word !== "" &&
  !/^\s(?:and|or|in|to|at|of|for|is|was|from|on|with|by|per|but|then|than|as|when|that|which|if|it|after|before|so|a|an|the|each)$/.test(
    word,
  );
