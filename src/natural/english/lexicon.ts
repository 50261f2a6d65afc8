import type { JsonIndex } from "./json-index.ts";
import { capitalized, isLower, isUpper } from "./letters.ts";
import { atLeastSecondary, emphasized, primary, secondary, weakened, withoutStress } from "./stress.ts";

export type Accent = "us" | "gb";

/** The pronunciation of a word depends on this besides its letters. */
export interface Place {
  /** Its part of speech; undefined if it is not known. */
  readonly tag?: string | undefined;
  /** True if the next word begins with a vowel; undefined if a pause follows. */
  readonly beforeVowel?: boolean | undefined;
  /** True if the next word is "to". */
  readonly beforeTo?: boolean | undefined;
}

export interface Lexicon {
  /** The phonemes of a word, of a sign that has a name, or of an inflected form. */
  find(word: string, place: Place): string | undefined;
  /**
   * Returns the phonemes of words that are separated by blanks or hyphens, such as those of a
   * number.
   */
  say(words: string): string;
  /** Returns the phonemes of a stem with this ending: `s`, `ed` or `ing`. */
  inflect(stem: string, ending: Ending): string | undefined;
}

export type Ending = "s" | "ed" | "ing";
type Stress = (phonemes: string) => string;
/**
 * A pronunciation, or several by part of speech. `None` is used before a pause, `DEFAULT`
 * otherwise.
 */
type Entry = string | Readonly<Record<string, string>>;

/** The names of signs. Signs with a blank name are not read. */
const signs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ "%": "percent", "&": "and", "+": "plus", "@": "at", "/": "slash", "=": "equals", "#": "hashtag" },
    ...{ "<": "less than", ">": "greater than", "~": "about", "^": "to the power of", "°": "degrees" },
    ...{ $: "dollars", "£": "pounds", "€": "euros", "¥": "yen", "¢": "cents", "§": "section" },
    ...{ "×": "times", "÷": "divided by", "±": "plus or minus", "−": "minus", "→": "to", "©": "copyright" },
  }),
);
export const isNamedSign = (text: string): boolean => signs.has(text);

/**
 * The gold dictionary was checked by people, and knows parts of speech. The silver dictionary was
 * not checked, and does not know them.
 */
export const createLexicon = (gold: JsonIndex, silver: JsonIndex, accent: Accent): Lexicon => {
  const inGold = (word: string): Entry | undefined => entryOf(gold, word);
  const inSilver = (word: string): Entry | undefined => entryOf(silver, word);
  const isListed = (word: string): boolean => inGold(word) !== undefined || inSilver(word) !== undefined;

  /** True if `read` finds a word, at least letter by letter. */
  const isReadable = (word: string): boolean =>
    isListed(word) || (/^[A-Za-z]+$/.test(word) && (word.length === 1 || isUpper(word.slice(1))));

  const spell = (word: string): string | undefined => {
    const names = Array.from(word.matchAll(/\p{L}/gu), ([letter]) => inGold(letter.toUpperCase()));
    if (names.some((name) => typeof name !== "string")) return undefined;
    const letters = atLeastSecondary(weakened(names.join("")));
    const last = letters.lastIndexOf(secondary);
    return last < 0 ? letters : letters.slice(0, last) + primary + letters.slice(last + 1);
  };

  const read = (written: string, place: Place, stress: Stress): string | undefined => {
    const isShouted = isUpper(written) && inGold(written) === undefined;
    const word = isShouted ? written.toLowerCase() : written;
    // Names of organizations are spelled rather than read as rare words.
    const isName = isShouted && place.tag === "NNP";
    const phonemes = choose(inGold(word) ?? (isName ? undefined : inSilver(word)), place);
    if (phonemes === undefined || (isName && !phonemes.includes(primary))) return spell(word);
    return stress(phonemes);
  };

  const inflected = (word: string, place: Place, stress: Stress): string | undefined => {
    for (const { ending, stemsOf } of inflections) {
      const stem = stemsOf(word).find(isReadable);
      const isWeak = ending === "ing" && stress === unchanged;
      const phonemes = stem && read(stem, place, isWeak ? atLeastSecondary : stress);
      const whole = phonemes && inflect(phonemes, ending, accent);
      if (whole) return whole;
    }
    return undefined;
  };

  const readWord = (written: string, place: Place): string | undefined => {
    const stress = stressOf(written);
    const special = readSpecial(written, place, stress);
    if (special !== undefined) return special;
    const word = isOrdinaryInCapitals(written, place) ? written.toLowerCase() : written;
    if (isReadable(word)) return read(word, place, stress);
    const possessive = [word.replace(/s'$/, "s's"), word.replace(/'$/, "")].find(
      (form) => form !== word && isReadable(form),
    );
    return possessive === undefined ? inflected(word, place, stress) : read(possessive, place, stress);
  };

  /**
   * True for a word that begins with a capital letter, or is written in capitals, but is no name.
   */
  const isOrdinaryInCapitals = (word: string, { tag }: Place): boolean => {
    const lower = word.toLowerCase();
    const isWord = word.length > 1 && /^\p{L}+$/u.test(word.replaceAll("'", "")) && word !== lower;
    if (!isWord || (tag === "NNP" && word.length <= 7) || isListed(word)) return false;
    if (!isUpper(word) && !isLower(word.slice(1))) return false;
    return isListed(lower) || inflected(lower, { tag }, unchanged) !== undefined;
  };

  /** Reads function words, initials and the letters `a` and `I`. */
  const readSpecial = (word: string, place: Place, stress: Stress): string | undefined => {
    const { tag = "", beforeVowel, beforeTo } = place;
    const isCapital = isUpper(word) && word.length > 1;
    if (isInitials(word)) return spell(word);
    switch (isCapital ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1)) {
      case "a":
        return tag === "DT" ? "ɐ" : "ˈA";
      case "am":
        if (tag.startsWith("NN")) return spell(word);
        return beforeVowel === undefined || word !== "am" ? choose(inGold("am"), {}) : "ɐm";
      case "an":
        return isCapital && tag.startsWith("NN") ? spell(word) : "ɐn";
      case "i":
        return word === "I" && tag === "PRP" ? `${secondary}I` : undefined;
      case "by":
        return /^(?:RB|ADV)/.test(tag) ? "bˈI" : undefined;
      case "to":
        if (isCapital && tag !== "TO" && tag !== "IN") return undefined;
        return beforeVowel === undefined ? choose(inGold("to"), {}) : beforeVowel ? "tʊ" : "tə";
      case "in":
        if (isCapital && tag === "NNP") return undefined;
        return beforeVowel === undefined || tag !== "IN" ? "ˈɪn" : "ɪn";
      case "the":
        if (isCapital && tag !== "DT") return undefined;
        return beforeVowel ? "ði" : "ðə";
      case "used":
        return choose(inGold("used"), {
          tag: beforeTo && /^(?:VBD|JJ)$/.test(tag) ? "VBD" : undefined,
          beforeVowel: false,
        });
      case "vs":
      case "vs.":
        return tag === "IN" ? read("versus", {}, stress) : undefined;
      default:
        return undefined;
    }
  };

  const say = (words: string): string =>
    words
      .split(/[\s-]+/)
      .map((word) => {
        const place = { beforeVowel: false };
        const form = isListed(word) ? undefined : inflected(word, place, unchanged);
        const phonemes = form ?? read(word, place, unchanged) ?? "";
        return word === "point" ? withoutStress(phonemes) : phonemes;
      })
      .join(" ");

  return {
    find: (word, place) => {
      const sign = signs.get(word);
      return sign === undefined ? readWord(word, place) : say(sign);
    },
    say,
    inflect: (stem, ending) => inflect(stem, ending, accent),
  };
};

/** A dictionary has only one of `word` and `Word` if both are read alike. */
const entryOf = (dictionary: JsonIndex, word: string): Entry | undefined => {
  const other = isLower(word) ? capitalized(word) : word === capitalized(word) ? word.toLowerCase() : word;
  return (dictionary.get(word) ?? (word.length > 1 && other !== word ? dictionary.get(other) : undefined)) as
    | Entry
    | undefined;
};

const choose = (entry: Entry | undefined, { tag, beforeVowel }: Place): string | undefined => {
  if (entry === undefined || typeof entry === "string") return entry;
  if (beforeVowel === undefined && "None" in entry) return entry.None;
  return entry[tag ?? ""] ?? entry[partOf(tag ?? "")] ?? entry.DEFAULT;
};

const partOf = (tag: string): string => {
  if (tag.startsWith("VB")) return "VERB";
  if (tag.startsWith("NN")) return "NOUN";
  if (/^(?:ADV|RB)/.test(tag)) return "ADV";
  return /^(?:ADJ|JJ)/.test(tag) ? "ADJ" : tag;
};

const unchanged: Stress = (phonemes) => phonemes;
const stressOf = (word: string): Stress =>
  isLower(word) ? unchanged : isUpper(word) ? emphasized : atLeastSecondary;

/** `U.S.`, `e.g.`: letters, alone or in pairs, between full stops. */
const isInitials = (word: string): boolean =>
  /^\.*[^.].*\.+[^.]/su.test(word) &&
  /^\p{L}+$/u.test(word.replaceAll(".", "")) &&
  word.split(".").every(({ length }) => length < 3);

interface Inflection {
  readonly ending: Ending;
  /** The possible stems, the likeliest first. */
  readonly stemsOf: (word: string) => readonly string[];
}

/**
 * Returns the word without its ending and with `added` instead, in a list that is empty if the word
 * does not have the ending.
 */
const without = (word: string, ending: RegExp, added = ""): readonly string[] =>
  ending.test(word) ? [word.replace(ending, "") + added] : [];

const inflections: readonly Inflection[] = [
  {
    ending: "s",
    stemsOf: (word) =>
      word.length < 3
        ? []
        : [
            ...without(word, /(?<!s)s$/),
            ...without(word, /'s$|(?<=..[^i])es$/),
            ...without(word, /(?<=..)ies$/, "y"),
          ],
  },
  {
    ending: "ed",
    stemsOf: (word) =>
      word.length < 4 ? [] : [...without(word, /(?<!d)d$/), ...without(word, /(?<=..[^e])ed$/)],
  },
  {
    ending: "ing",
    stemsOf: (word) => [
      ...without(word, /(?<=...)ing$/),
      ...without(word, /(?<=..)ing$/, "e"),
      ...without(word, /(?<=([bcdgklmnprstvxz]))\1ing$|(?<=c)king$/),
    ],
  },
];

/**
 * An American `t` is flapped between one of these sounds and an ending that begins with a vowel.
 */
const flapping: ReadonlySet<string> = new Set("AIOWYiuæɑəɛɪɹʊʌ");

const inflect = (stem: string, ending: Ending, accent: Accent): string | undefined => {
  const last = stem.at(-1) ?? "";
  const weak = accent === "gb" ? "ɪ" : "ᵻ";
  const isFlapped = accent === "us" && last === "t" && flapping.has(stem.at(-2) ?? "");
  const flapped = isFlapped ? `${stem.slice(0, -1)}ɾ` : stem;
  switch (ending) {
    case "s":
      if (/[ptkfθ]/.test(last)) return `${stem}s`;
      return /[szʃʒʧʤ]/.test(last) ? `${stem}${weak}z` : `${stem}z`;
    case "ed":
      if (/[pkfθʃsʧ]/.test(last)) return `${stem}t`;
      return /[dt]/.test(last) ? `${flapped}${weak}d` : `${stem}d`;
    case "ing":
      // In British English such a stem gets an r before this ending, so the form is not derived
      // from it.
      return accent === "gb" && /[əː]/.test(last) ? undefined : `${flapped}ɪŋ`;
  }
};
