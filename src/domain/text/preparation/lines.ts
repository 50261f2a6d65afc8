import { rewrite } from "../mapped-text.ts";
import { endsLine, sentencesOf } from "../sentences.ts";
import type { Step } from "./reader.ts";

const lineBreak = /[\n\r\v\f\x85\u2028\u2029]/u;
const blanks = /[\s\x85]+/gu;
/** Scripts and signs between which a wrapped line has no blank. */
const wide =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u3000-\\u303f\\uff00-\\uffef]";
const endsWide = new RegExp(`${wide}$`, "u");
const beginsWide = new RegExp(`^${wide}`, "u");

/**
 * A tool may pause at each line break, or at none. So a line break that ends a sentence becomes an
 * empty line, and any other a blank.
 */
export const joinLines: Step = (text, { lang }) => {
  if (!lineBreak.test(text.text)) return text;
  const whole = text.text;
  const sentences = sentencesOf(whole, lang);
  let [start, end, next] = [0, sentences[0]?.length ?? 0, 1];
  const joined = rewrite(text, blanks, ({ 0: run, index }) => {
    if (!lineBreak.test(run)) return undefined;
    const after = index + run.length;
    for (; end < after && next < sentences.length; next++) {
      start = end;
      end += sentences[next]?.length ?? 0;
    }
    const following = whole.slice(after, after + 64);
    if (end === after && endsLine(whole.slice(start, index), run, following, lang)) return "\n\n";
    return endsWide.test(whole.slice(index - 2, index)) && beginsWide.test(following) ? "" : " ";
  });
  return rewrite(joined, bullet, () => "");
};

/**
 * Matches a bullet at the beginning of a line. It need not match hyphens, which voices do not
 * speak.
 */
const bullet = /(?<=^|\n)[*•‣◦▪·+]\s+(?=\p{L})/gu;
