import type { PronouncedWords } from "../domain/text/pronounced-text.ts";

/** A word or a mark of punctuation, as the front end of a language reads it. */
export interface SpokenWord {
  /** Symbols of the model, the spaces and punctuation after the word included. */
  readonly phonemes: string;
  /** Its position in the text, in code points. */
  readonly position: number;
  /** Its length in code points; 0 for punctuation. */
  readonly length: number;
}

/** The words of a sentence, or of a part of one that a model speaks in one run. */
export type SpokenSentence = readonly SpokenWord[];

/** Reads texts of one language. */
export interface FrontEnd {
  /**
   * The sentences of a text; none if nothing in it can be spoken. `pronounced`: the words with a
   * given pronunciation, in the order of the text.
   */
  read(text: string, pronounced?: readonly PronouncedWords[]): Promise<readonly SpokenSentence[]>;
}
