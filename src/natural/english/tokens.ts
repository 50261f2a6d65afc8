import { escapeRegExp } from "./letters.ts";

/** A word, a part of one, or a sign, as the tagger knows them. */
export interface Token {
  readonly text: string;
  /** The position in UTF-16 code units of the text. */
  readonly start: number;
}

/** Texts that have their own division: `don't` is `do` and `n't`. */
export type TokenizerExceptions = ReadonlyMap<string, readonly string[]>;

/**
 * Divides a text as spaCy does, with whose tokens the tagger was trained. Signs are removed from
 * both ends of each run between blanks, as long as the rest is no exception. Then inner signs
 * divide it.
 */
export const tokensOf = (text: string, exceptions: TokenizerExceptions): Token[] =>
  Array.from(text.matchAll(chunks)).flatMap(({ 0: chunk, index }) => {
    let end = index;
    return divide(chunk, exceptions).map((part) => {
      end += part.length;
      return { text: part, start: end - part.length };
    });
  });

/** Blanks separate chunks. Dividing takes quadratic time, so the length is bounded. */
const chunks = /\S{1,200}/gu;

const divide = (chunk: string, exceptions: TokenizerExceptions): readonly string[] => {
  const known = exceptions.get(chunk);
  if (known) return known;
  const { before, core, after } = peel(chunk, exceptions);
  const inner =
    core === "" ? [] : (exceptions.get(core) ?? (isAddress.test(core) ? [core] : splitInside(core)));
  return joinExceptions([...before, ...inner, ...after], exceptions);
};

const peel = (chunk: string, exceptions: TokenizerExceptions) => {
  const before: string[] = [];
  const after: string[] = [];
  let core = chunk;
  for (let length = -1; core.length !== length && core !== "" && !exceptions.has(core); ) {
    length = core.length;
    const head = prefix.exec(core)?.[0] ?? "";
    if (head !== "" && exceptions.has(core.slice(head.length))) {
      before.push(head);
      core = core.slice(head.length);
      break;
    }
    const tail = suffix.exec(core.slice(head.length))?.[0] ?? "";
    const isTailOfException = tail !== "" && exceptions.has(core.slice(0, -tail.length));
    if (head !== "" && !isTailOfException) {
      before.push(head);
      core = core.slice(head.length);
    }
    if (tail !== "") {
      after.unshift(tail);
      core = core.slice(0, -tail.length);
    }
    if (isTailOfException) break;
  }
  return { before, core, after };
};

const splitInside = (core: string): string[] => {
  const parts: string[] = [];
  let next = 0;
  for (const { 0: sign, index } of core.matchAll(infix)) {
    if (index === 0) continue;
    if (index > next) parts.push(core.slice(next, index));
    parts.push(sign);
    next = index + sign.length;
  }
  return next < core.length ? [...parts, core.slice(next)] : parts;
};

/**
 * Joins two or three parts that are an exception together, such as `Sept` and `.`, and divides them
 * as the exception says.
 */
const joinExceptions = (parts: readonly string[], exceptions: TokenizerExceptions): readonly string[] => {
  if (parts.length < 2) return parts;
  const joined: string[] = [];
  for (let at = 0; at < parts.length; ) {
    const size = [3, 2].find(
      (count) => at + count <= parts.length && exceptions.has(parts.slice(at, at + count).join("")),
    );
    const found = size && exceptions.get(parts.slice(at, at + size).join(""));
    joined.push(...(found || parts.slice(at, at + 1)));
    at += size ?? 1;
  }
  return joined;
};

const lower = "a-zß-öø-ÿ";
const upper = "A-ZÀ-ÖØ-Þ";
const quotes = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
const punctuation = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
const marks = "™®©°§¶†‡•";
const currency = "\\$|£|€|¥|฿|US\\$|C\\$|A\\$|[₽₹₩₪₺₴₦₫₱₲₵₸₼₾₿]";
const measures =
  "[kcdm]?m[²³]?|km/h|kmh|ha|[µn]m|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|mph|hPa|Pa|mbar|[mkgt]b|[MKGT]B|[TGMK]|%";
const anyOf = (characters: string): string => `[${escapeRegExp(characters)}]`;

const prefix = new RegExp(
  `^(?:[§%=—–…]|\\+(?!\\d)|${anyOf(punctuation)}|\\.\\.+|${anyOf(quotes)}|${currency}|${anyOf(marks)})`,
  "u",
);
const suffix = new RegExp(
  `(?:[…—–]|${anyOf(punctuation)}|\\.\\.+|${anyOf(quotes)}|${anyOf(marks)}|['’][sS]|(?<=\\d)\\+|(?<=°[FfCcKk])\\.|` +
    `(?<=\\d)(?:${currency}|${measures})|(?<=[0-9${lower}%²\\-+${escapeRegExp(punctuation + quotes)}])\\.|(?<=[${upper}]{2})\\.)$`,
  "u",
);
const infix = new RegExp(
  `\\.\\.+|…|${anyOf(marks)}|(?<=\\d)[+\\-*^](?=[0-9\\-])|` +
    `(?<=[${lower}${escapeRegExp(quotes)}])\\.(?=[${upper}${escapeRegExp(quotes)}])|` +
    "(?<=\\p{L}),(?=\\p{L})|(?<=[\\p{L}\\p{N}])(?:---|--|——|[-–—~])(?=\\p{L})|(?<=[\\p{L}\\p{N}])[:<>=/](?=\\p{L})",
  "gu",
);
const isAddress =
  /^(?:(?:https?|ftp):\/\/|www\.)\S+$|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|^(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai)(?:\/\S*)?$/i;
