import type { Mark } from "../synthesis/marks.ts";
import { placedWords } from "./pieces.ts";
import type { SpokenText } from "./spoken-text.ts";

/** A word or sentence begins at a character of a spoken text. */
export interface SpokenEvent {
  readonly kind: "word" | "sentence";
  /** Index of the character. */
  readonly at: number;
  /** In seconds from the start of the sound. */
  readonly seconds: number;
}

/**
 * The marks of a text. Engines report the beginnings of what they pronounce, often several in a written word (`3.14`), or
 * one for several words: a mark is a written word, from its first event. Events that do not follow the text are ignored.
 */
export const placeMarks = (text: SpokenText, events: readonly SpokenEvent[], lang: string): Mark[] => {
  const words = wordsOf(text, lang);
  const begun = beginnings(words, events);
  const marks = begun.map(({ from, to, seconds }) => markOf(text, "word", { from, to }, seconds));
  // Without word events, the words are those that the text has.
  const spoken = marks.length > 0 ? marks : words.map((word) => markOf(text, "word", word, 0));
  return [...sentenceMarks(text, events, spoken), ...marks].sort(
    (a, b) => a.time - b.time || a.start - b.start || (a.type === "sentence" ? -1 : 1),
  );
};

/** Indices of characters; `to` is the first one after it. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface Word extends Range {
  /** True if no blank separates it from the word before. */
  readonly isJoined: boolean;
}

/** Scripts that write words without blanks between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const blank = /^[\s\p{Z}\p{Cc}]$/u;
/** Punctuation around a word, except signs that are read aloud. */
const punctuation = /^(?![%&#@*/\\])\p{P}$/u;

const wordsOf = (text: SpokenText, lang: string): Word[] => {
  const words = spokenWordsOf(text, lang);
  return text.replaced ? words.reduce(joinReplaced(text.replaced), []) : words;
};

/** Words that are spoken for the same written characters are one. */
const joinReplaced =
  ({ from, to }: NonNullable<SpokenText["replaced"]>) =>
  (words: Word[], word: Word): Word[] => {
    const last = words.at(-1);
    if (!last || (from[word.from] ?? 0) >= (to[last.to - 1] ?? 0)) words.push(word);
    else words.splice(-1, 1, { ...last, to: word.to });
    return words;
  };

const spokenWordsOf = ({ characters, breaks }: SpokenText, lang: string): Word[] => {
  const words: Word[] = [];
  const isBlank = (at: number): boolean => blank.test(characters[at] ?? " ");
  for (let from = 0; from < characters.length; ) {
    if (isBlank(from)) {
      from++;
      continue;
    }
    let to = from + 1;
    while (to < characters.length && !isBlank(to) && !breaks.has(to)) to++;
    words.push(...wordsOfRun(characters, { from, to }, lang));
    from = to;
  }
  return words;
};

/** The words of characters without blanks: usually one, without its punctuation. */
const wordsOfRun = (characters: readonly string[], run: Range, lang: string): Word[] => {
  const own = characters.slice(run.from, run.to);
  if (unspaced.test(own.join(""))) return segmentsOf(own, run.from, lang);
  const { from, to } = without(punctuation, characters, run);
  return from < to ? [{ from, to, isJoined: false }] : [];
};

const segmentsOf = (characters: readonly string[], at: number, lang: string): Word[] =>
  placedWords(characters, lang)
    .filter(({ isWordLike }) => isWordLike)
    .map(({ from, to }, index) => ({ from: at + from, to: at + to, isJoined: index > 0 }));

interface Beginning extends Range {
  readonly seconds: number;
}

/** The words that events begin; a joined word without one belongs to the word before. */
const beginnings = (words: readonly Word[], events: readonly SpokenEvent[]): Beginning[] => {
  const begun: (Beginning & { readonly index: number })[] = [];
  let last = -1;
  for (const { kind, at, seconds } of events) {
    if (kind !== "word") continue;
    const index = indexOf(words, at);
    const word = words[index];
    if (!word || index <= last) continue;
    last = index;
    begun.push({ index, from: word.from, to: word.to, seconds });
  }
  return begun.map(({ index, from, to, seconds }, place) => {
    const next = begun[place + 1]?.index ?? words.length;
    let end = to;
    for (let after = index + 1; after < next && words[after]?.isJoined; after++)
      end = words[after]?.to ?? end;
    return { from, to: end, seconds };
  });
};

/** The word that contains the character, or the next one if only punctuation lies between; -1 if there is none. */
const indexOf = (words: readonly Word[], at: number): number => {
  const index = firstEndingAfter(at, words.length, (one) => words[one]?.to ?? 0);
  const word = words[index];
  return word && word.from <= at + 1 ? index : -1;
};

/** The first of `count` ascending ends that is beyond a place; `count` if there is none. */
export const firstEndingAfter = (place: number, count: number, endOf: (index: number) => number): number => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(middle) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
};

const markOf = (text: SpokenText, type: Mark["type"], { from, to }: Range, seconds: number): Mark => ({
  time: Math.round(seconds * 1000),
  type,
  start: text.starts[from] ?? 0,
  end: text.ends[to - 1] ?? 0,
});

/** A sentence ends where the next one begins. One without words is none. */
const sentenceMarks = (text: SpokenText, events: readonly SpokenEvent[], words: readonly Mark[]): Mark[] => {
  const begun: SpokenEvent[] = [];
  for (const event of events) {
    if (event.kind === "sentence" && event.at > (begun.at(-1)?.at ?? -1)) begun.push(event);
  }
  return begun.flatMap(({ at, seconds }, index) => {
    const range = without(blank, text.characters, {
      from: at,
      to: begun[index + 1]?.at ?? text.characters.length,
    });
    if (range.from >= range.to) return [];
    const mark = markOf(text, "sentence", range, seconds);
    return words.some(({ start }) => start >= mark.start && start < mark.end) ? [mark] : [];
  });
};

/** The range without such characters at its ends. */
const without = (pattern: RegExp, characters: readonly string[], range: Range): Range => {
  let { from, to } = range;
  while (from < to && pattern.test(characters[from] ?? "")) from++;
  while (to > from && pattern.test(characters[to - 1] ?? "")) to--;
  return { from, to };
};
