import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import { sentencesOf } from "../../engines/text/pieces.ts";

/**
 * Cuts a text that arrives in chunks into pieces, each as soon as it is complete. The pieces depend on the text alone, not
 * on its chunks. Joined, they are the text; a blank text has none.
 */
export interface IncomingText {
  /** The pieces that the chunk completes. */
  add(chunk: string): string[];
  /** What is left at the end of the text: one piece, or none. */
  end(): string[];
}

/** In UTF-16 code units. A longer sentence is cut between words, so that no chunk is searched for longer. */
const longestSentence = 600;

/**
 * The first sentence is a piece by itself. Later pieces have more characters, so that the number of pieces of a text, each
 * of which costs a synthesis and a serving, stays below 10 + length / 100.
 */
const leastCharacters = (index: number): number => Math.min(index * 10, 100);

/** SSML is one document, and a prolog may precede it. */
const maybeSsml = /^\s*<(?:[?!]|speak)/;

export const createIncomingText = (lang: string): IncomingText => {
  let rest = "";
  let piece = "";
  let count = 0;
  let isSsml = false;

  const takeSentence = (sentence: string): string[] => {
    piece += sentence;
    if (piece.trim() === "" || countCharacters(piece) < leastCharacters(count)) return [];
    const complete = piece;
    piece = "";
    count++;
    return [complete];
  };

  return {
    add: (chunk) => {
      rest += chunk;
      isSsml ||= count === 0 && maybeSsml.test(piece + rest);
      if (isSsml) return [];
      const pieces: string[] = [];
      for (let next = nextSentences(rest, lang); next.length > 0; next = nextSentences(rest, lang)) {
        pieces.push(...next.flatMap(takeSentence));
        rest = rest.slice(next.join("").length);
      }
      return pieces;
    },
    end: () => {
      const last = piece + rest;
      return last.trim() === "" ? [] : [last];
    },
  };
};

/** The complete sentences at the beginning of the text; none if more text is needed. */
const nextSentences = (text: string, lang: string): string[] => {
  const complete = decided(sentencesOf(text.slice(0, longestSentence), lang));
  if (complete.length > 0 || text.length <= longestSentence) return complete;
  const cut = cutBetweenWords(text.slice(0, longestSentence));
  return text.slice(cut.length).trim() === "" ? [] : [cut];
};

/**
 * The sentences that further text cannot change. A full stop ends a sentence unless a lower-case letter follows, with anything
 * but letters in between (Unicode Standard Annex 29, rule SB8): it is decided by the next letter.
 */
const decided = (sentences: readonly string[]): string[] => {
  const next = sentences.findLastIndex((sentence) => /\p{L}/u.test(sentence));
  return sentences.slice(0, Math.max(0, next));
};

/** Without a blank: between code points. */
const cutBetweenWords = (text: string): string => {
  const words = /^.*\s/s.exec(text)?.[0] ?? "";
  if (words.trim() !== "") return words;
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
};
