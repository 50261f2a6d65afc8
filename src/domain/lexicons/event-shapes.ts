import { count, listOf, object, optional, type ShapesOf, text, utcTime } from "../shape.ts";
import type { LexiconRule } from "./lexicon-rules.ts";
import type { LexiconEvent } from "./lexicons.ts";

const rule = object<LexiconRule>({
  grapheme: text,
  alias: optional(text),
  phoneme: optional(text),
  alphabet: optional(text),
});

export const lexiconShapes: ShapesOf<LexiconEvent> = {
  LexiconSet: {
    name: text,
    version: count,
    digest: text,
    lang: optional(text),
    rules: listOf(rule),
    at: utcTime,
  },
  LexiconRemoved: { name: text, at: utcTime },
};
