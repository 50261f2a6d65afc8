import { replace } from "../mapped-text.ts";
import type { Step } from "./reader.ts";

/** Kanji, and the two kana that are pronounced otherwise where they are particles. */
const needsReading = /[\p{Script=Han}はへ]/u;

/** Writes kanji as kana, for a reader that does not know them. Kanji without a reading stay. */
export const readKanji: Step = (text, { readingsOf }) =>
  readingsOf && needsReading.test(text.text) ? replace(text, readingsOf(text.text)) : text;
