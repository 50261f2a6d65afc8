import { spellDigits } from "./number-words.ts";
import { pattern, type Rule } from "./rule.ts";

const notInside = String.raw`(?<![\p{L}\p{N}_.,/:+$£€#-])`;
const noMore = String.raw`(?![\p{L}\p{N}_]|[-.,/:]\d)`;

/** Spells a number digit by digit, with a pause between groups. */
const inGroups = (written: string): string =>
  (written.startsWith("+") ? "plus " : "") + (written.match(/\d+/g) ?? []).map(spellDigits).join(", ");

const groups: Rule["1"] = ([written]) => inGroups(written);

export const phoneRules: readonly Rule[] = [
  // +1 (555) 123-4567, +44 20 7946 0958
  [
    pattern(
      notInside,
      String.raw`(?=\+(?:[ ().-]{0,2}\d){7,15}(?!\d))\+\d{1,3}(?:[ .-]?\(\d{1,5}\))?(?:[ .-]?\d{2,5}){1,5}`,
      noMore,
    ),
    groups,
  ],
  // (555) 123-4567, 555-123-4567, 1-800-555-1234, 555.123.4567
  [pattern(notInside, String.raw`(?:1[ .-])?\(\d{3,5}\)[ .-]?\d{3,4}[ .-]\d{3,4}`, noMore), groups],
  [pattern(notInside, String.raw`(?:1[.-])?\d{3}([.-])\d{3}\1\d{4}`, noMore), groups],
  // 0800 123 456, 020 7946 0958, 01632 960001
  [pattern(notInside, String.raw`0\d{2,4}[ -]\d{3,4}(?:[ -]\d{3,4})?`, noMore), groups],
  // 07700 900123, 555-1234
  [pattern(notInside, String.raw`0\d{4}[ -]\d{6}`, noMore), groups],
  [pattern(notInside, String.raw`[2-9]\d\d-(?!\d\d00)\d{4}(?! [a-z]+s\b)`, noMore), groups],
  // Cards, and numbers in at least three groups: 978-3-16-148410-0
  [pattern(notInside, String.raw`\d{4}([ -])\d{4}\1\d{4}(?:\1\d{1,7})?`, noMore), groups],
  [pattern(notInside, String.raw`\d{1,9}(?:-\d{1,9}){2,6}`, noMore), groups],
  // Codes
  [
    pattern(
      String.raw`(?<=\b(?:[Cc]ode|[Pp]in|PIN|ZIP|[Zz]ip|ID|[Ee]xtension|ext|(?:[Oo]rder|[Aa]ccount|[Ii]nvoice|[Tt]racking|[Ss]erial|[Tt]icket|[Rr]eference|[Rr]ef)(?=\.?:?(?: #| ?[Nn]umber| [Nn]o| ID|:)))(?:\.|:|\s[Nn]o\.?|\s[Nn]umber|\s[Cc]ode)?(?:\sis|\swas)?:?\s#?|\b[A-Z]{2}\s(?=\d{5}(?!\d)))(\d{4,})`,
      noMore,
    ),
    groups,
  ],
  // Leading zeros, and numbers of at least ten digits that are not round
  [pattern(String.raw`(?<![\p{L}\p{N}_.,/:-])(?:0\d{1,31}|\d{10,32}(?<!000))`, noMore), groups],
];
