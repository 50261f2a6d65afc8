import { type SentenceRules, sentenceRules } from "./sentence-rules.ts";

/**
 * Finds the ends of sentences by Unicode's rules (UAX 29), with corrections. The service, its
 * streams and the client library use it, so it must run in browsers.
 *
 * - A full stop after an abbreviation, an initial, an ordinal or the number of a list item ends
 *   no sentence.
 * - A single line break is a blank, because texts are wrapped. An empty line or U+2029 ends a
 *   sentence, and so does a line break before or after a list item, or after a heading that begins
 *   with `#`.
 */

/**
 * Splits a text into sentences. Joined, they are the text. Blanks belong to the sentence before
 * them.
 */
export const sentencesOf = (text: string, lang: string): string[] => {
  const sentences: string[] = [];
  let from = 0;
  for (const end of endsOf(text, lang)) {
    sentences.push(text.slice(from, end));
    from = end;
  }
  return from === text.length ? sentences : [...sentences, text.slice(from)];
};

/**
 * Returns the sentences before the last one that has words. `isComplete`: false if more text may
 * follow; then only sentences that it cannot change are returned.
 */
export const completeSentencesOf = (text: string, lang: string, isComplete = false): string[] => {
  const sentences = sentencesOf(text, lang);
  const last = sentences.findLastIndex((sentence) => /\p{L}/u.test(sentence));
  const isDecided =
    isComplete || begun.test(sentences[last] ?? "") || !isOpen(sentences[last - 1] ?? "", lang);
  return sentences.slice(0, Math.max(0, isDecided ? last : last - 1));
};

/**
 * True if a line break within a text ends a sentence; otherwise it is a blank, or nothing. `said`:
 * the text before the blanks.
 */
export const endsLine = (said: string, blanks: string, next: string, lang: string): boolean =>
  lineBreakAt(said, blanks, next.slice(0, context), sentenceRules(lang)) === "end";

/**
 * Decides whether a full stop before blanks ends a sentence, or a list item's number, or neither.
 */
export const fullStopAt = (text: string, index: number, lang: string): Stop => {
  const after = text.slice(index + 1, index + 1 + context);
  const [around = ""] = afterStop.exec(after) ?? [];
  const [closing = ""] = closingSigns.exec(around) ?? [];
  const said = text.slice(Math.max(0, index + 1 - context), index + 1) + closing;
  return stopAt(
    said.slice(lastLine(said)),
    around.slice(closing.length),
    after.slice(around.length),
    sentenceRules(lang),
  );
};

type Stop = "end" | "item" | "none";

const unspacedScript =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
/** Matches a sentence whose first word is complete. */
const begun = new RegExp(`[${unspacedScript}]|\\p{L}[\\p{L}\\p{M}]*[^\\p{L}\\p{M}]`, "u");

/**
 * True if the next word decides whether a sentence ends there: at a line break, or after what may
 * be an abbreviation.
 */
const isOpen = (sentence: string, lang: string): boolean => {
  const said = sentence.trimEnd();
  return (
    anyLineBreak.test(sentence.slice(said.length)) || stopAt(said, " ", "EST ", sentenceRules(lang)) !== "end"
  );
};

const endsOf = (text: string, lang: string): number[] => {
  const rules = sentenceRules(lang);
  const read = asUnicodeReads(text, lang);
  const ends: number[] = [];
  let from = 0;
  for (const { index } of segmenterOf(lang).segment(read)) {
    if (index === 0 || !endsSentence(read.slice(from, index), read.slice(index, index + context), rules))
      continue;
    ends.push(index);
    from = index;
  }
  return ends;
};

/**
 * Replaces signs that Unicode's rules do not expect, with signs of the same length: the blank in `?
 * »`, and the Greek question mark.
 */
const asUnicodeReads = (text: string, lang: string): string => {
  const quoted = text.includes("»") ? text.replace(/[^\S\n](?=»(?:\s|\p{P}|$))/gu, "»") : text;
  return /^el(?:-|$)/i.test(lang) ? quoted.replace(/[;\u037e](?=\s)/gu, "?") : quoted;
};

/** The rules look at no more of a line than this length in UTF-16 code units. */
const context = 64;

const lineBreak = "(?:\\r\\n|\\r(?!\\n)|[\\n\\v\\f\\x85\\u2028])";
const paragraph = new RegExp(`\\u2029|${lineBreak}[^\\S\\n\\r\\v\\f\\x85\\u2028]*${lineBreak}`, "u");
const anyLineBreak = /[\n\r\v\f\x85\u2028\u2029]/u;

/** Decides whether blanks with line breaks end a sentence. `said`: the text before them. */
const lineBreakAt = (said: string, blanks: string, next: string, rules: SentenceRules): "end" | "wrap" => {
  if (paragraph.test(blanks)) return "end";
  const line = said.slice(lastLine(said)).trimStart().slice(0, context);
  const isAfterItem = item.test(line) || numberedItem.test(line);
  if (item.test(next) || (isAfterItem && /^[–—]\s/u.test(next))) return "end";
  // `12. ` may also be the end of a sentence, or a date.
  if (numberedItem.test(next)) {
    const isFirst = next.startsWith("1.") && !rules.hasOrdinals;
    return isAfterItem || isFirst || !/(?:^|\s)\p{Ll}\S*$/u.test(said.slice(-context)) ? "end" : "wrap";
  }
  const isIndented = /[^\S\n\r\v\f\x85\u2028]$/u.test(blanks);
  return isAfterItem && !isIndented && !/^\p{Ll}/u.test(next) ? "end" : "wrap";
};

const item = /^(?:[-*+•‣◦▪·]\s|#{1,6}\s|\(?(?:\d{1,3}|[A-Za-z])\)\s|[–—]\s(?=\P{Ll}))/u;
const numberedItem = /^\d{1,3}\.\s/u;

const lastLine = (said: string): number => {
  for (let at = said.length; at > 0; at--) if (anyLineBreak.test(said[at - 1] ?? "")) return at;
  return 0;
};

const closers = "[\\p{Pe}\\p{Pf}\\p{Pi}\"'*_]";
const afterStop = new RegExp(`^${closers}*\\s*`, "u");
const closingSigns = new RegExp(`^${closers}*`, "u");
const stop = new RegExp(`(?<word>[^\\s]*?)(?<stops>[\\p{Sentence_Terminal}…]+)${closers}*$`, "u");
/** The number of a list item alone, which is a sentence. */
const itemNumber = /^\s*\(?(?:\p{Nd}{1,3}|\p{Ll}|[ivx]+)\.$/u;
const unspaced = new RegExp(`^[${unspacedScript}]`, "u");
const opening = /^[\s\p{Ps}\p{Pi}\p{Pf}"'*_¿¡]*/u;

/** True if a sentence ends between two texts, where Unicode ends one. */
const endsSentence = (before: string, after: string, rules: SentenceRules): boolean => {
  const next = after.trimStart();
  const blanks = after.slice(0, after.length - next.length);
  // Line breaks belong to the sentence before them, those at the beginning of the text to the first
  // sentence.
  if (next === "" || anyLineBreak.test(blanks)) return false;
  // The text is trimmed only here: if it were trimmed at each line break, all blanks before it
  // would be read each time.
  const said = before.trimEnd();
  if (said === "") return false;
  const between = before.slice(said.length) + blanks;
  if (anyLineBreak.test(between) && lineBreakAt(said, between, next, rules) === "end") return true;
  return stopAt(said, between, next, rules) === "end";
};

/**
 * Decides what the stops at the end of a text are: the end of a sentence, a part of the number of a
 * list item, or neither. Quotes and brackets may follow the stops.
 */
const stopAt = (
  text: string,
  blanks: string,
  next: string,
  rules: SentenceRules,
): "end" | "item" | "none" => {
  const said = text.slice(-context);
  const { word = "", stops } = stop.exec(said)?.groups ?? {};
  if (stops === undefined) return "none";
  const begins = next.replace(opening, "");
  // Georgian letters count as lower case and begin every sentence.
  if (/^(?!\p{Script=Georgian})\p{Ll}/u.test(begins)) return "none";
  if (!/^[.!?…]+$/.test(stops)) return "end";
  // A stop without a blank after it is within an address or a file name.
  if (blanks === "" && said.endsWith(stops) && !unspaced.test(begins)) return "none";
  if (word === "" && /^(?:\.{2,}|…)$/.test(stops)) return "none"; // ` ... ` is a pause within a sentence
  if (stops !== ".") return "end";
  return itemNumber.test(text) ? "item" : isAbbreviated(said, word, begins, rules) ? "none" : "end";
};

const isAbbreviated = (said: string, word: string, next: string, rules: SentenceRules): boolean => {
  const own = word.replace(opening, "");
  const known = abbreviationsIn(said, own).flatMap((form) => rules.kinds.get(form) ?? [])[0];
  if (known === "never") return true;
  // "No. I will not." is a sentence.
  const isNumber = /^no$/i.test(own) ? /^(?:\p{Nd}|(?!I\P{L})[IVXLC]+(?!\p{L}))/u : startsNumber;
  if (known === "beforeNumber" && isNumber.test(next)) return true;
  // A letter with a full stop is an initial.
  const first = /^(?!\p{L}\.)[\p{L}\p{M}]+/u.exec(next)?.[0] ?? "";
  const starts = rules.starters.has(first.toLowerCase());
  if (rules.hasOrdinals && /^(?:\p{Nd}{1,3}|[IVXLC]+)$/u.test(own)) {
    return /^\p{L}/u.test(next) ? !starts : /^\p{Nd}{1,2}\.|^\p{Nd}{4}(?!\p{Nd})/u.test(next);
  }
  if (starts || !/^\p{L}/u.test(next)) return false;
  if (known === "beforeCapital") return timeZone.test(next);
  return known === "beforeName" || initials.test(own) || isVowelless(said, own, rules);
};

const startsNumber = /^(?:\p{Nd}|[IVXLC]+(?!\p{L}))/u;
const timeZone = /^(?:[ECMP][SD]?T|GMT|UTC|CES?T|Eastern|Central|Mountain|Pacific)(?!\p{L})/u;
const initials = /^(?:\p{L}\p{M}*\p{Ll}?\.-?)*\p{L}\p{M}*$/u;

/** The last three, two and one words, if they have full stops: `z. B.` */
const abbreviationsIn = (said: string, word: string): string[] => {
  const [, first = "", second = ""] = spaced.exec(said) ?? [];
  return [...new Set([`${first}${second}${word}`, `${second}${word}`, word])].map((form) =>
    form.toLowerCase(),
  );
};

const spaced = new RegExp(
  `(?:^|[\\s\\p{Ps}\\p{Pi}"'])(?:(\\p{L}{1,3}\\.)\\s)?(\\p{L}{1,3}\\.)\\s\\p{L}{1,3}\\.${closers}*$`,
  "u",
);

/**
 * True for an abbreviation of two to four letters without a vowel. Units after a number and `hmm`
 * are not abbreviations.
 */
const isVowelless = (said: string, word: string, { hasVowelless }: SentenceRules): boolean =>
  !hasVowelless &&
  word !== word.toUpperCase() &&
  /^[b-df-hj-np-tv-xzßñç]{2,4}$/i.test(word) &&
  !/^(?:h?m+|s+h+|p+s+t|b+r+|t+s+k+|z+|p?f+t?|g+r+)$/i.test(word) &&
  !/\p{Nd}\s?\p{L}+\.$/u.test(said);

const segmenterOf = (lang: string): Intl.Segmenter => {
  try {
    return new Intl.Segmenter(lang, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter("en", { granularity: "sentence" }); // an invalid language tag
  }
};
