import { digitNames, numberNames } from "../../domain/text/preparation/english/number-words.ts";
import { sentencesOf } from "../../domain/text/sentences.ts";
import type { FrontEnd, SpokenSentence, SpokenWord } from "../phonemes.ts";
import { symbolsOfIpa } from "./ipa.ts";
import type { JsonIndex } from "./json-index.ts";
import { type Accent, createLexicon, isNamedSign } from "./lexicon.ts";
import { sayNumber } from "./numbers.ts";
import { withoutStress } from "./stress.ts";
import { createTagger, type Tagger } from "./tagger.ts";
import { type TokenizerExceptions, tokensOf } from "./tokens.ts";
import { type Following, followingOf, type Part, readWord, type WordReaders } from "./words.ts";

interface EnglishData {
  readonly accent: Accent;
  readonly gold: JsonIndex;
  readonly silver: JsonIndex;
  readonly tagger: JsonIndex;
  readonly exceptions: TokenizerExceptions;
  readonly spellUnknown: WordReaders["spellUnknown"];
}

/** Reads English text that has been prepared (`domain/text/preparation`), or a part of it. */
export const createEnglishReader = (data: EnglishData): FrontEnd => {
  const { accent, exceptions } = data;
  const lexicon = createLexicon(data.gold, data.silver, accent);
  const readers: WordReaders = {
    lexicon,
    sayNumber: (digits, isFirst) => sayNumber(digits, isFirst, lexicon, accent),
    spellUnknown: data.spellUnknown,
  };
  const tag = createTagger(data.tagger);
  return {
    read: async (text, pronounced = []) => {
      const given = pronounced.flatMap(({ start, end, ipa }) => {
        const phonemes = symbolsOfIpa(ipa, accent);
        return phonemes === undefined ? [] : [{ start, end, phonemes }];
      });
      const sentences: SpokenSentence[] = [];
      let [start, position] = [0, 0];
      for (const sentence of sentencesAround(given, plain(text))) {
        const end = start + sentence.length;
        const own = given.filter((one) => one.start >= start && one.start < end);
        const local = own.map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
        const items = itemsOf(sentence, local, exceptions, tag);
        const words = await readItems(items, sentence, position, readers);
        if (words.some(({ phonemes }) => spoken.test(phonemes))) sentences.push(words);
        start = end;
        position += Array.from(sentence).length;
      }
      return sentences;
    },
  };
};

/** Splits a text into sentences, none of which ends within words that have phonemes. */
const sentencesAround = (given: readonly Given[], text: string): readonly string[] => {
  const sentences: string[] = [];
  let [joined, end] = ["", 0];
  for (const sentence of sentencesOf(text, "en")) {
    joined += sentence;
    end += sentence.length;
    if (given.some((one) => one.start < end && one.end > end)) continue;
    sentences.push(joined);
    joined = "";
  }
  return sentences;
};

const spoken = /[^;:,.!?—…"“”()\s]/;

/** Writes the signs that the tagger knows, at the same places. */
const plain = (text: string): string => text.replace(/[’ʼ]/g, "'").replace(/[‐‑‒]/g, "-").replace(/―/g, "—");

/** A word whose parts are still to be read, or something whose phonemes are known. */
type Item =
  | { readonly parts: Part[] }
  | { readonly phonemes: string; readonly start: number; readonly end: number; readonly isWord: boolean };

interface Given {
  readonly start: number;
  readonly end: number;
  readonly phonemes: string;
}

const itemsOf = (
  text: string,
  given: readonly Given[],
  exceptions: TokenizerExceptions,
  tag: Tagger,
): Item[] => {
  const tokens: { text: string; start: number; phonemes?: string }[] = [];
  let next = 0;
  const addUntil = (end: number): void => {
    for (const token of tokensOf(text.slice(next, end), exceptions))
      tokens.push({ ...token, start: next + token.start });
  };
  for (const { start, end, phonemes } of given) {
    addUntil(start);
    tokens.push({ text: text.slice(start, end), start, phonemes });
    next = end;
  }
  addUntil(text.length);
  const tags = tag(tokens.map((token) => token.text));
  const items: Item[] = [];
  for (const [at, { text: written, start, phonemes }] of tokens.entries()) {
    const end = start + written.length;
    if (phonemes !== undefined) items.push({ phonemes, start, end, isWord: true });
    else addParts(items, partsOf(written, tags[at] ?? "", start));
  }
  const last = items.at(-1);
  const end = text.trimEnd().length;
  // The full stop of an abbreviation ends a sentence, too.
  if (last && "parts" in last && text[end - 1] === ".")
    items.push({ phonemes: ".", start: end - 1, end, isWord: false });
  return items;
};

const addParts = (items: Item[], parts: readonly Part[]): void => {
  for (const [at, part] of parts.entries()) {
    const { text, tag, start } = part;
    const pause = pauseOf(part);
    const last = items.at(-1);
    const word = last && "parts" in last ? last.parts : undefined;
    const before = word?.at(-1);
    if (pause !== undefined) items.push({ phonemes: pause, start, end: start + text.length, isWord: false });
    // B2B, but not H2O
    else if (
      text === "2" &&
      /\p{L}$/u.test(parts[at - 1]?.text ?? "") &&
      /^(?![OHS])\p{L}/u.test(parts[at + 1]?.text ?? "")
    )
      items.push({ parts: [{ text: "to", tag, start }] });
    else if (word && before && before.start + before.text.length === start && word.length < maxParts)
      word.push(part);
    else items.push({ parts: [part] });
  }
};

/**
 * The largest number of parts of a word. It is bounded, because reading a word takes cubic time.
 */
const maxParts = 32;

const letter = "[\\p{L}\\p{Nl}\\p{No}]";
const capital = "[A-ZÀ-ÖØ-Þ]";
const small = "[a-zß-öø-ÿ]";
/**
 * A part is a number, a run of letters up to the next capital, or a sign. Signs that are not spoken
 * form one part.
 */
const part = new RegExp(
  [
    "^['‘’]+",
    `${capital}(?=${capital}${small})`,
    "(?:^-)?(?:\\d?[,.]?\\d)+",
    "[-_]+",
    "['‘’]{2,}",
    `${letter}*?(?:['‘’]${letter})*?${small}(?=${capital})`,
    `${letter}+(?:['‘’]${letter})*`,
    "[^\\p{L}\\p{N}_\\-'‘’]",
    "['‘’]+$",
  ].join("|"),
  "gu",
);

const partsOf = (token: string, tag: string, start: number): Part[] =>
  Array.from(token.matchAll(part), ({ 0: text, index }) => ({ text, tag, start: start + index }));

/** These signs are always punctuation, even if the tagger takes them for something else. */
const always = /^[;:!?—…"“”()[\]{}«»]$/;
const pausing = new Set([".", ",", "-LRB-", "-RRB-", "``", '""', "''", ":", "$", "#", "NFP"]);
const written: ReadonlyMap<string, string> = new Map([
  ["-LRB-", "("],
  ["-RRB-", ")"],
  ["``", "“"],
  ['""', "”"],
  ["''", "”"],
]);

/** The symbols of punctuation; undefined for other parts. */
const pauseOf = ({ text, tag }: Part): string | undefined => {
  if (tag === ":" && /^[-–]$/.test(text)) return "—";
  const isSign = always.test(text) || (pausing.has(tag) && !/^[A-Za-z]+$/.test(text) && !isNamedSign(text));
  if (!isSign) return undefined;
  return written.get(tag) ?? text.replace(/[^;:,.!?—…"“”]/g, "");
};

const readItems = async (
  items: readonly Item[],
  text: string,
  position: number,
  readers: WordReaders,
): Promise<SpokenWord[]> => {
  const words: SpokenWord[] = [];
  let following: Following = { beforeVowel: undefined, beforeTo: false };
  let isBlankNext = false;
  for (const item of items.toReversed()) {
    const isWord = "parts" in item || item.isWord;
    const { start, end } = "parts" in item ? extentOf(item.parts) : item;
    const read = "parts" in item ? await readWord(item.parts, following, readers) : undefined;
    const said = read?.phonemes ?? ("parts" in item ? "" : item.phonemes);
    const phonemes = (isDecimalPoint(text, start, end) ? withoutStress(said) : said)
      .replace(/ɾ/g, "T")
      .replace(/ʔ/g, "t");
    following = read?.following ?? followingOf(phonemes, "", following);
    // Where a sign has no sound, the blank after it moves to the end of the word before it.
    isBlankNext ||= /\s/.test(text.charAt(end)) && words.some(({ phonemes }) => phonemes !== "");
    const blank = phonemes !== "" && isBlankNext ? " " : "";
    if (phonemes !== "") isBlankNext = false;
    words.push({
      phonemes: phonemes + blank,
      position: position + Array.from(text.slice(0, start)).length,
      length: isWord ? Array.from(text.slice(start, end)).length : 0,
    });
  }
  return words.reverse();
};

/** The preparation writes `3.5` as "three point five". */
const isDecimalPoint = (text: string, start: number, end: number): boolean =>
  text.slice(start, end) === "point" &&
  afterNumber.test(text.slice(Math.max(0, start - 12), start)) &&
  beforeDigit.test(text.slice(end, end + 7));

const afterNumber = new RegExp(
  `(?<!\\p{L})(?:${numberNames.join("|")}|hundred|thousand|[mbtr]+illion) $`,
  "u",
);
const beforeDigit = new RegExp(`^ (?:${digitNames.join("|")})(?!\\p{L})`, "u");

const extentOf = (parts: readonly Part[]): { readonly start: number; readonly end: number } => {
  const [first, last] = [parts[0], parts.at(-1)];
  return { start: first?.start ?? 0, end: (last?.start ?? 0) + (last?.text.length ?? 0) };
};
