import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import { completeSentencesOf } from "../../domain/text/sentences.ts";

/**
 * Cuts a text that arrives in chunks into pieces, each as soon as it is complete, or a few
 * characters later. The pieces depend on the text alone, not on its chunks. Joined, the pieces are
 * the text. A blank text has no pieces.
 */
interface IncomingText {
  /** Returns the pieces that are now complete. */
  add(chunk: string): string[];
  /** Returns the remaining pieces. */
  end(): string[];
}

/**
 * The longest sentence, in UTF-16 code units. A longer one is cut between words, which bounds the
 * search for its end.
 */
const longestSentence = 600;

/**
 * The number of code units that may be searched for each code unit that arrives. Without this
 * bound, a text that arrives in single characters would be searched again with each of them.
 * Sentences of 30 characters are still found at once.
 */
const searchedPerUnit = 16;

/**
 * The first sentence is a piece by itself. Later pieces have more characters, so that the number of
 * pieces of a text, each of which costs a synthesis and a serving, stays below 10 + length / 100.
 */
const minCharacters = (index: number): number => Math.min(index * 10, 100);

/**
 * Matches the beginning of SSML, which is not cut because it is one document. A prolog may precede
 * it.
 */
const maybeSsml = /^<(?:[?!]|speak)/;
const longestOpening = "<speak".length;

/** `findSentences`: replaced in tests. */
export const createIncomingText = (lang: string, findSentences = completeSentencesOf): IncomingText => {
  /** The first characters that are not blank. */
  let opening = "";
  let rest = "";
  let piece = "";
  let count = 0;
  /** The number of code units that may still be searched. */
  let credit = 0;

  const takeSentence = (sentence: string): string[] => {
    piece += sentence;
    if (piece.trim() === "" || countCharacters(piece) < minCharacters(count)) return [];
    const complete = piece;
    piece = "";
    count++;
    return [complete];
  };

  /** The complete sentences at the beginning of the text; none if more text is needed. */
  const nextSentences = (text: string, isComplete: boolean): string[] => {
    const searched = text.slice(0, longestSentence);
    credit -= searched.length;
    const complete = findSentences(searched, lang, isComplete && searched === text);
    if (complete.length > 0 || text.length <= longestSentence) return complete;
    const cut = cutBetweenWords(searched);
    return text.slice(cut.length).trim() === "" ? [] : [cut];
  };

  const takePieces = (isComplete: boolean): string[] => {
    const pieces: string[] = [];
    for (
      let next = nextSentences(rest, isComplete);
      next.length > 0;
      next = nextSentences(rest, isComplete)
    ) {
      pieces.push(...next.flatMap(takeSentence));
      rest = rest.slice(next.join("").length);
    }
    return pieces;
  };

  return {
    add: (chunk) => {
      rest += chunk;
      credit += chunk.length * searchedPerUnit;
      if (opening.length < longestOpening) opening = (opening + chunk).trimStart().slice(0, longestOpening);
      if (chunk === "" || credit < rest.length || maybeSsml.test(opening)) return [];
      return takePieces(false);
    },
    end: () => {
      const pieces = maybeSsml.test(opening) ? [] : takePieces(true);
      const last = piece + rest;
      return last.trim() === "" ? pieces : [...pieces, last];
    },
  };
};

/**
 * Returns the text up to its last blank. If it has none, returns the text without half of a code
 * point at its end.
 */
const cutBetweenWords = (text: string): string => {
  const words = /^.*\s/s.exec(text)?.[0] ?? "";
  if (words.trim() !== "") return words;
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
};
