const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const smallOrdinals =
  "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(
    " ",
  );
const tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/** The values of English number words. */
export const numberWords: ReadonlyMap<string, number> = new Map([
  ...[...small, ...smallOrdinals].map((word, index) => [word, index % small.length] as const),
  ...tens.flatMap((word, index) => {
    const stem = word.slice(0, -1);
    return [word, `${stem}ies`, `${stem}ieth`].map((form) => [form, 10 * (index + 2)] as const);
  }),
  ...Object.entries({
    o: 0,
    oh: 0,
    nought: 0,
    half: 2,
    halves: 2,
    thirds: 3,
    quarter: 4,
    quarters: 4,
    fifths: 5,
  }),
  ...Object.entries({ hundred: 100, hundredth: 100, hundreds: 100 }),
  ...Object.entries({ thousand: 1_000, thousandth: 1_000, thousands: 1_000 }),
  ...Object.entries({ million: 1_000_000, millionth: 1_000_000 }),
  ...Object.entries({ billion: 1_000_000_000, trillion: 1_000_000_000_000 }),
]);

const wordsIn = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")));

/** Units that are written as signs before or after a number. */
export const units: ReadonlySet<string> = wordsIn(
  "dollar dollars cent cents pound pounds sterling pence penny euro euros yen yuan rupee rupees ruble rubles won",
  "percent degree degrees celsius fahrenheit centigrade",
);

/** Further words that English readers say for signs and beside numbers. */
export const spokenSigns: ReadonlySet<string> = new Set([
  ...units,
  ...wordsIn(
    "and a point dot comma dash slash to over by per cent hash number at times minus plus equals negative about",
    "approximately less greater more than or equal section oclock am pm hours hour minutes minute seconds second",
  ),
]);

/**
 * English abbreviations (without full stops), each with the words that it stands for (without
 * spaces).
 */
export const writtenForms: ReadonlyMap<string, readonly string[]> = new Map([
  ["dr", ["doctor", "drive"]],
  ["mr", ["mister"]],
  ["mrs", ["missus", "misses"]],
  ["ms", ["miss", "miz"]],
  ["prof", ["professor"]],
  ["st", ["saint", "street"]],
  ["sr", ["senior"]],
  ["jr", ["junior"]],
  ["vs", ["versus"]],
  ["etc", ["etcetera"]],
  ["eg", ["forexample"]],
  ["ie", ["thatis"]],
  ["approx", ["approximately"]],
  ["no", ["number"]],
  ["ave", ["avenue"]],
  ["rd", ["road"]],
  ["ok", ["okay"]],
  ["dept", ["department"]],
  ["c", ["celsius"]],
  ["f", ["fahrenheit"]],
  ["km", ["kilometers", "kilometres", "kilometer", "kilometre"]],
  ["cm", ["centimeters", "centimetres", "centimeter", "centimetre"]],
  ["mm", ["millimeters", "millimetres", "millimeter", "millimetre"]],
  ["kg", ["kilograms", "kilogram", "kilos", "kilo"]],
  ["lb", ["pounds", "pound"]],
  ["lbs", ["pounds"]],
  ["oz", ["ounces", "ounce"]],
  ["ft", ["feet", "foot"]],
  ["mph", ["milesperhour"]],
  ["gb", ["gigabytes", "gigabyte"]],
  ["mb", ["megabytes", "megabyte"]],
]);
