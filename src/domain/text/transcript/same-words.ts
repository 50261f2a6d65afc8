import { numberWords, spokenSigns, units, writtenForms } from "./english-words.ts";

/**
 * True if a transcript has the words of a text. Only writing may differ: case, punctuation,
 * apostrophes, spaces within words, accents, common English abbreviations, and numbers and signs in
 * words. "I'm" and "I am" differ.
 */
export const haveSameWords = (text: string, transcript: string, lang: string): boolean => {
  const isEnglish = /^en\b/i.test(lang);
  return new Alignment(tokensOf(text), tokensOf(transcript), isEnglish).isPossible(0, 0);
};

type Token =
  /**
   * The letters are in lower case, without marks that writers leave out. `isPart`: one character of
   * a script without spaces.
   */
  | { readonly kind: "word"; readonly letters: string; readonly isPart: boolean }
  /**
   * `digits`: the digits without leading zeros; undefined for digits of other scripts. `suffix`:
   * true if letters follow them (`1990s`, `5kg`).
   */
  | {
      readonly kind: "number";
      readonly digits: string | undefined;
      readonly isDate: boolean;
      readonly suffix: boolean;
    }
  /** Currencies, `%`, `&`, arrows, emoji. */
  | { readonly kind: "sign" };

/** Accents, and the vowel points of Hebrew and Arabic. */
const optionalMarks = /[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]/g;
const apostrophes = /['’‘ʼ＇`´]/g;
/** `10,000`, `10 000`, `10'000`: three digits follow each separator. */
const grouping = /(?<=\d)[\s,.](?=\d{3}(?!\d))/g;
/** Characters of scripts without spaces are compared one by one. */
const unspaced =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]\\p{M}*";
const number = "\\p{Nd}+(?:[.,:/\\-–]\\p{Nd}+)*";
const tokens = new RegExp(
  `(?<number>${number})(?<suffix>\\p{L}*)|(?<one>${unspaced})|(?<word>[\\p{L}\\p{M}]+)|[\\p{S}%&@#*§]`,
  "gu",
);

const tokensOf = (text: string): Token[] => {
  const plain = text
    .normalize("NFKC")
    .replace(apostrophes, "")
    .replace(/ß/g, "ss")
    .normalize("NFD")
    .replace(optionalMarks, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(grouping, "");
  return Array.from(plain.matchAll(tokens), ({ groups = {} }): Token => {
    const { number, suffix, one, word } = groups;
    const letters = one ?? word;
    if (letters !== undefined) return { kind: "word", letters, isPart: one !== undefined };
    if (number === undefined) return { kind: "sign" };
    const digits = number.replace(/\P{Nd}/gu, "");
    return {
      kind: "number",
      digits: /^\d+$/.test(digits) ? digits.replace(/^0+(?=\d)/, "") : undefined,
      isDate: /^\d+[-/–]\d/.test(number),
      suffix: suffix !== "",
    };
  });
};

/**
 * The maximum number of words that may be written as one: `e-mail` and `email`, `U.S.` and `US`.
 */
const maxJoined = 4;
/**
 * The maximum number of words per digit of a number, and for its unit. Two characters of scripts
 * without spaces count as a word.
 */
const [wordsPerDigit, wordsOfUnit] = [2, 2];
const wordsOfSign = 3;

/** Searches for a way to read two token lists as the same words. */
class Alignment {
  readonly #text: readonly Token[];
  readonly #transcript: readonly Token[];
  readonly #isEnglish: boolean;
  readonly #hasSigns: boolean;
  readonly #impossible = new Set<number>();

  constructor(text: readonly Token[], transcript: readonly Token[], isEnglish: boolean) {
    this.#text = text;
    this.#transcript = transcript;
    this.#isEnglish = isEnglish;
    this.#hasSigns = [...text, ...transcript].some(({ kind }) => kind !== "word");
  }

  /** True if the texts can have the same words from these tokens on. */
  isPossible(at: number, other: number): boolean {
    if (at === this.#text.length && other === this.#transcript.length) return true;
    const key = at * (this.#transcript.length + 1) + other;
    if (this.#impossible.has(key)) return false;
    const found =
      this.#matchesWords(at, other) ||
      this.#readsAloud(this.#text, at, this.#transcript, other, (from, to) => this.isPossible(from, to)) ||
      this.#readsAloud(this.#transcript, other, this.#text, at, (from, to) => this.isPossible(to, from)) ||
      (this.#isUnit(this.#transcript[other]) && this.isPossible(at, other + 1)) ||
      (this.#isUnit(this.#text[at]) && this.isPossible(at + 1, other));
    if (!found) this.#impossible.add(key);
    return found;
  }

  #matchesWords(at: number, other: number): boolean {
    let joined = "";
    for (let count = 1; count <= maxJoined; count++) {
      const token = this.#text[at + count - 1];
      if (token?.kind !== "word") return false;
      joined += token.letters;
      let joinedOther = "";
      for (let countOther = 1; countOther <= maxJoined; countOther++) {
        const tokenOther = this.#transcript[other + countOther - 1];
        if (tokenOther?.kind !== "word") break;
        joinedOther += tokenOther.letters;
        if (this.#areSame(joined, joinedOther) && this.isPossible(at + count, other + countOther))
          return true;
      }
    }
    return false;
  }

  #areSame(one: string, other: string): boolean {
    if (one === other) return true;
    if (!this.#isEnglish) return false;
    return writtenForms.get(one)?.includes(other) === true || writtenForms.get(other)?.includes(one) === true;
  }

  /**
   * True if the words from `other` on are a way to read the number or sign at `at`, and the rest
   * fits.
   */
  #readsAloud(
    tokens: readonly Token[],
    at: number,
    others: readonly Token[],
    other: number,
    continues: (at: number, other: number) => boolean,
  ): boolean {
    const token = tokens[at];
    const next = others[other];
    if (!token || token.kind === "word") return false;
    if (next?.kind === token.kind && isSameNumber(token, next) && continues(at + 1, other + 1)) return true;
    const max = token.kind === "sign" ? wordsOfSign : maxWordsOf(token);
    const words: Token[] = [];
    for (let [end, length] = [other, 0]; length <= max; end++) {
      if (this.#isReading(token, words)) {
        if (continues(at + 1, end)) return true;
        if (this.#isSpokenWithin(tokens[at + 1], words) && continues(at + 2, end)) return true;
      }
      const word = others[end];
      if (!word || !this.#mayBeRead(token, word)) return false;
      words.push(word);
      length += word.kind === "word" && word.isPart ? 0.5 : 1;
    }
    return false;
  }

  /**
   * True if the unit is spoken within the number: `14:30 Uhr` is `vierzehn Uhr dreißig`. In
   * English, `spokenSigns` has the units.
   */
  #isSpokenWithin(unit: Token | undefined, words: readonly Token[]): boolean {
    if (this.#isEnglish || unit?.kind !== "word") return false;
    return words.some((word) => word.kind === "word" && word.letters === unit.letters);
  }

  #mayBeRead(token: NumberOrSign, word: Token): boolean {
    if (isDate(token)) return word.kind !== "sign";
    if (word.kind !== "word") return false;
    const mayBeUnknown = !this.#isEnglish || (token.kind === "number" && token.suffix);
    return mayBeUnknown || numberWords.has(word.letters) || spokenSigns.has(word.letters);
  }

  /** Signs may be left out. Only English numbers are understood. */
  #isReading(token: NumberOrSign, words: readonly Token[]): boolean {
    if (token.kind === "sign") return true;
    if (words.length === 0) return false;
    if (!this.#isEnglish || token.digits === undefined || isDate(token)) return true;
    return digitsOf(words.map((word) => (word.kind === "word" ? word.letters : ""))) === token.digits;
  }

  /** The unit of a sign may be spoken later: `$1.5 million` is `one point five million dollars`. */
  #isUnit(token: Token | undefined): boolean {
    return this.#isEnglish && this.#hasSigns && token?.kind === "word" && units.has(token.letters);
  }
}

type NumberOrSign = Exclude<Token, { kind: "word" }>;

const isDate = (token: NumberOrSign): boolean => token.kind === "number" && token.isDate;

const maxWordsOf = ({ digits }: Extract<Token, { kind: "number" }>): number =>
  wordsPerDigit * (digits?.length ?? 4) + wordsOfUnit;

const isSameNumber = (one: NumberOrSign, other: NumberOrSign): boolean =>
  one.kind === "sign" ||
  other.kind === "sign" ||
  one.digits === undefined ||
  other.digits === undefined ||
  one.digits === other.digits;

/**
 * The digits of an English number in words: `nineteen ninety-nine` and `one thousand nine hundred
 * and ninety-nine` are both 1999, `ten thirty` is 1030, `five point two` is 52. Words of units are
 * skipped.
 */
export const digitsOf = (words: readonly string[]): string => {
  const parts: number[][] = [];
  let current: number[] | undefined;
  for (const word of words) {
    const value = numberWords.get(word);
    if (value === undefined) {
      if (word !== "and") current = undefined;
      continue;
    }
    if (current && value >= 100) scale(current, value);
    else if (current && fits(current, value)) current.push(value);
    else {
      current = [value];
      parts.push(current);
    }
  }
  const digits = parts.map((part) => part.reduce((sum, value) => sum + value, 0)).join("");
  return digits.replace(/^0+(?=\d)/, "");
};

/**
 * A multiplier applies to the smaller numbers before it: in `one thousand two hundred` to the two,
 * in `two hundred thousand` to all.
 */
const scale = (part: number[], factor: number): void => {
  let sum = 0;
  while (part.length > 0 && (part.at(-1) ?? 0) < factor) sum += part.pop() ?? 0;
  part.push((sum || 1) * factor);
};

/** `forty` and `two` are one number, `four` and `two` are two. */
const fits = (part: readonly number[], value: number): boolean => {
  const last = part.at(-1) ?? 0;
  if (value === 0 || last === 0) return false;
  const zeros = /0*$/.exec(String(last))?.[0] ?? "";
  return value < Number(`1${zeros}`);
};
