import type { Mark } from "../synthesis/marks.ts";
import { placedWords } from "./pieces.ts";
import type { SpokenText } from "./spoken-text.ts";

/** A word or sentence begins at a character of a spoken text. */
export interface SpokenEvent {
  readonly kind: "word" | "sentence";
  /** Index of the character. */
  readonly at: number;
  /** Seconds from the start of the audio. */
  readonly seconds: number;
  /**
   * The next event, if the words before that event may have been spoken together with the word at
   * `at`; otherwise undefined.
   */
  readonly until?: { readonly at: number; readonly seconds: number } | undefined;
}

/**
 * The marks of a text. Engines report the beginnings of the words that they pronounce: often
 * several for a written word (`3.14`), or one for several words (`of the`). Each written word has
 * one mark. It begins with its first event or, without an event, at a time that is proportional to
 * the letters before it. Events that do not follow the text are ignored. A `<mark>` is reached when
 * the next word begins, or at the end of the audio, after `seconds`.
 */
export const placeMarks = (
  text: SpokenText,
  events: readonly SpokenEvent[],
  lang: string,
  seconds = 0,
): Mark[] => {
  const words = wordsOf(text, lang);
  const begun = beginnings(words, events, (range) => lettersIn(text, range));
  const marks = begun.map(({ from, to, seconds }) => markOf(text, "word", { from, to }, seconds));
  // If the engine reported no words, sentences are placed by the words of the text.
  const spoken = marks.length > 0 ? marks : words.map((word) => markOf(text, "word", word, 0));
  const reached = (text.marks ?? []).map(({ at, start, end }): Mark => {
    const next = begun.find(({ from }) => from >= at);
    return { time: Math.round((next?.seconds ?? seconds) * 1000), type: "mark", start, end };
  });
  return [...sentenceMarks(text, events, spoken), ...marks, ...reached].sort(
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

/** Joins words that are spoken for the same written characters. */
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

/** The words of a run of characters without blanks: usually one, without its punctuation. */
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

/** The words from one event to the next one. */
interface Group {
  readonly words: readonly Word[];
  readonly seconds: number;
  until: SpokenEvent["until"];
}

/** The words that events begin, and those that are spoken together with them. */
const beginnings = (
  words: readonly Word[],
  events: readonly SpokenEvent[],
  lettersOf: LettersOf,
): Beginning[] => {
  const groups = groupsOf(words, events);
  const pace = paceOf(groups, lettersOf);
  return groups.flatMap(({ words, seconds, until }) => {
    const [first, ...others] = words.reduce(joinUnspaced, []);
    if (!first) return [];
    const spoken = [first, ...others.filter(({ from }) => until && from < until.at)];
    const letters = sumOf(spoken, lettersOf);
    // The next event may follow a pause.
    const duration = Math.min((until?.seconds ?? seconds) - seconds, letters * pace);
    let before = 0;
    return spoken.map(({ from, to }) => {
      const start = seconds + (duration * before) / letters;
      before += lettersOf({ from, to });
      return { from, to, seconds: start };
    });
  });
};

const groupsOf = (words: readonly Word[], events: readonly SpokenEvent[]): Group[] => {
  const begun: { readonly index: number; readonly seconds: number; until: SpokenEvent["until"] }[] = [];
  for (const { kind, at, seconds, until } of events) {
    if (kind !== "word") continue;
    const index = indexOf(words, at);
    const last = begun.at(-1);
    if (index === last?.index) last.until = until;
    else if (index > (last?.index ?? -1)) begun.push({ index, seconds, until });
  }
  return begun.map(({ index, seconds, until }, place) => ({
    words: words.slice(index, begun[place + 1]?.index),
    seconds,
    until,
  }));
};

/** Seconds per letter. */
const paceOf = (groups: readonly Group[], lettersOf: LettersOf): number => {
  let [seconds, letters] = [0, 0];
  for (const { words, seconds: start, until } of groups) {
    if (!until) continue;
    seconds += until.seconds - start;
    letters += sumOf(words, lettersOf);
  }
  return letters === 0 ? 0 : seconds / letters;
};

type LettersOf = (range: Range) => number;

/** A digit is read as a word, which takes as long as four letters. */
const lettersIn = ({ characters }: SpokenText, { from, to }: Range): number =>
  characters.slice(from, to).reduce((sum, character) => sum + (digit.test(character) ? 4 : 1), 0);

const digit = /\p{Nd}/u;

const sumOf = (words: readonly Range[], lettersOf: LettersOf): number =>
  words.reduce((sum, word) => sum + lettersOf(word), 0);

/** A joined word without an event belongs to the word before. */
const joinUnspaced = (words: Word[], word: Word): Word[] => {
  const last = words.at(-1);
  if (last && word.isJoined) words.splice(-1, 1, { ...last, to: word.to });
  else words.push(word);
  return words;
};

/**
 * The word that contains the character, or the next one if only punctuation lies between; -1 if
 * there is none.
 */
const indexOf = (words: readonly Word[], at: number): number => {
  const index = firstEndingAfter(at, words.length, (one) => words[one]?.to ?? 0);
  const word = words[index];
  return word && word.from <= at + 1 ? index : -1;
};

/**
 * The index of the first of `count` ascending ends that is beyond a place; `count` if there is
 * none.
 */
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

/** A sentence ends where the next one begins. A sentence without words gets no mark. */
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

/** The range without the characters at its ends that match the pattern. */
const without = (pattern: RegExp, characters: readonly string[], range: Range): Range => {
  let { from, to } = range;
  while (from < to && pattern.test(characters[from] ?? "")) from++;
  while (to > from && pattern.test(characters[to - 1] ?? "")) to--;
  return { from, to };
};
