import { rewrite, type Write } from "../mapped-text.ts";
import type { Step } from "./reader.ts";

type Rewriting = readonly [pattern: RegExp, write: Write];

/**
 * Replaces usual spellings of a language with others that espeak-ng 1.51 reads right. It would read
 * the usual ones letter by letter, or drop sounds.
 */
export const readableSpelling: Step = (text, { lang, tool }) => {
  if (tool !== "espeak") return text;
  const [language = ""] = lang.split("-", 1);
  const all = rewritings.get(language) ?? [];
  return all.reduce((written, [pattern, write]) => rewrite(written, pattern, write), text);
};

/** NFC writes these letters with a nukta, and espeak-ng then drops the vowel that follows. */
const bengali: readonly Rewriting[] = [
  [/\u09a1\u09bc/gu, () => "\u09dc"],
  [/\u09a2\u09bc/gu, () => "\u09dd"],
];

const marathi: readonly Rewriting[] = [[/\u091c\u093c/gu, () => "\u091c"]];

/** Rewritings by language code. Each gets what the one before it has written. */
const rewritings: ReadonlyMap<string, readonly Rewriting[]> = new Map([
  [
    "as",
    [
      [/\u09af\u09bc/gu, () => "\u09df"],
      [/[\u09a1\u09a2]\u09bc/gu, () => "\u09f0"],
    ],
  ],
  ["bn", [...bengali, [/\u09af\u09bc/gu, () => "\u09df"]]],
  ["bpy", bengali],
  ["chr", [[/\p{Script=Cherokee}/gu, ([letter]) => cherokeeSyllable(letter)]]],
  [
    "fr",
    [
      // Ordinals: "2e" would be "deux e".
      [/(?<![\p{L}\d.,])(\d{1,4})e(?![\p{L}\d])/gu, ([, number]) => `${number}ème`],
      [/(?<![\p{L}\d.,])1re(?![\p{L}\d])/gu, () => "1ère"],
    ],
  ],
  [
    "he",
    [
      // Sin becomes samekh, and shin loses its dot. The dots of bet, kaf and pe move before the
      // vowel, and all other letters but vav lose theirs.
      [/\u05e9([\u05b0-\u05bb\u05c7]{0,4})\u05bc?\u05c2/gu, ([, vowels]) => `\u05e1${vowels}`],
      [/\u05c1/gu, () => ""],
      [
        /([\u05d1\u05db\u05e4])([\u05b0-\u05bb\u05c7]{1,4})\u05bc/gu,
        ([, letter, vowels]) => `${letter}\u05bc${vowels}`,
      ],
      [/(?<![\u05d1\u05db\u05e4\u05d5])\u05bc/gu, () => ""],
      [/\u05b1/gu, () => "\u05b6"],
    ],
  ],
  // A letter alone is read by its name. This one is the word "is".
  ["hyw", [[/(?<!\p{L})[\u0537\u0567](?!\p{L})/gu, () => "e"]]],
  ["kok", marathi],
  // Within a word, an apostrophe is read by its name, and espeak-ng crashes at single Latin letters
  // around it: "C'J-L".
  ["ky", [[/(?<=\p{L})['’](?=\p{L})/gu, () => ""]]],
  ["mr", marathi],
  ["or", [[/([\u0b21\u0b22])\u0b3c/gu, ([, letter]) => letter]]],
  // For espeak-ng, a capital letter within a word begins another word.
  ["tlh", [[/\p{Lu}/gu, ([letter]) => letter.toLowerCase()]]],
]);

/** The syllables are in the order of the Unicode block, from U+13A0. */
const cherokeeSyllables =
  "a e i o u v ga ka ge gi go gu gv ha he hi ho hu hv la le li lo lu lv ma me mi mo mu na hna nah ne ni no nu nv " +
  "qua que qui quo quu quv sa s se si so su sv da ta de te di ti do du dv dla tla tle tli tlo tlu tlv " +
  "tsa tse tsi tso tsu tsv wa we wi wo wu wv ya ye yi yo yu yv mv";
const cherokee = cherokeeSyllables.split(" ");

/** espeak-ng's Cherokee voice reads only Latin letters. */
const cherokeeSyllable = (letter: string): string =>
  cherokee[(letter.toUpperCase().codePointAt(0) ?? 0) - 0x13a0] ?? letter;
