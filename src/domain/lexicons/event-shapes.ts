import {
  type Check,
  code,
  count,
  listOf,
  type MembersOf,
  object,
  optional,
  text,
  utcTime,
} from "../shape.ts";
import type { LexiconRule, PhonemeAlphabet } from "./lexicon-rules.ts";

const rule: Check<LexiconRule> = object({
  grapheme: text,
  alias: optional(text),
  phoneme: optional(text),
  alphabet: optional(code<PhonemeAlphabet>()),
} satisfies MembersOf<LexiconRule>);

export const lexiconShapes = {
  LexiconSet: {
    name: text,
    /** The number of times that a lexicon of the website was set, this time included. */
    version: count,
    /** SHA-256 of language and rules. */
    digest: text,
    lang: optional(text),
    rules: listOf(rule),
    at: utcTime,
  },
  LexiconRemoved: { name: text, at: utcTime },
};
