import { TokenizerBuilder } from "lindera-wasm-nodejs-ipadic";
import type { Replacement } from "../../../domain/text/mapped-text.ts";
import { readingsOfTokens, type Token } from "./phrases.ts";

/**
 * Loads the dictionary, which takes a second and 130 MB. Use it only in worker threads and tests.
 */
export const openDictionary = (): ((text: string) => Replacement[]) => {
  const builder = new TokenizerBuilder();
  builder.setDictionary("embedded://ipadic");
  builder.setMode("normal");
  builder.setKeepWhitespace(true);
  const tokenizer = builder.build();
  const tokensOf = (text: string): Token[] => tokenizer.tokenize(text);
  /** Divides a word of unknown kanji, because some of them have a reading when they stand alone. */
  const divided = (token: Token): Token[] =>
    token.pronunciation === undefined && /^\p{Script=Han}{2,}$/u.test(token.surface)
      ? Array.from(token.surface).flatMap(tokensOf)
      : [token];
  return (text) =>
    Array.from(text.matchAll(sentences)).flatMap(({ 0: sentence, index }) =>
      readingsOfTokens(tokensOf(sentence).flatMap(divided), index),
    );
};

/**
 * Matches sentences, and parts of long ones: the effort for a sentence grows faster than its
 * length.
 */
const sentences = /[^。！？!?\n]{1,500}[。！？!?\n]*|[。！？!?\n]+/gu;
