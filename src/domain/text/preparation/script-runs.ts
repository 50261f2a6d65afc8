import { scriptOf } from "../../synthesis/min-duration.ts";
import { isSpeakable } from "../speakable.ts";
import type { Reader } from "./reader.ts";

/**
 * Consecutive words, and the language whose voice reads them; undefined if the reader itself does.
 */
interface ScriptRun {
  readonly text: string;
  readonly lang: string | undefined;
}

interface Script {
  /** Matches one letter of the script. */
  readonly letter: string;
  /**
   * The scripts (ISO 15924, `Jpan` for the three of Japanese) of the languages whose voices read
   * these letters.
   */
  readonly usedIn: readonly string[];
  readonly lang: string | ((run: string, text: string) => string);
  /** The length of the shortest run: single letters are signs. */
  readonly minLength?: number;
  /** True if the letters look like Latin ones. Such letters also occur within Latin words. */
  readonly isLikeLatin?: true;
}

const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * espeak-ng reads letters of most scripts that its language does not use by their names ("Hebrew
 * shin"), flite not at all. In some scripts of India espeak-ng changes its language by itself, but
 * then its samples for letters that it does not know (U+0D29) differ from time to time.
 */
const scripts: readonly Script[] = [
  {
    letter: "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Bopomofo}ー]",
    usedIn: ["Hans", "Hant", "Jpan"],
    lang: (_, text) => (kana.test(text) ? "ja-JP" : "zh-CN"),
  },
  { letter: "[\\p{Script=Hiragana}\\p{Script=Katakana}ー]", usedIn: ["Jpan"], lang: "ja-JP" },
  { letter: "\\p{Script=Hangul}", usedIn: ["Kore"], lang: "ko-KR" },
  { letter: "\\p{Script=Thai}", usedIn: ["Thai"], lang: "th-TH" },
  { letter: "\\p{Script=Myanmar}", usedIn: ["Mymr"], lang: "my-MM" },
  { letter: "\\p{Script=Hebrew}", usedIn: ["Hebr"], lang: "he-IL" },
  {
    letter: "\\p{Script=Arabic}",
    usedIn: ["Arab"],
    lang: (run) => (/[ٹڈڑںےہ]/.test(run) ? "ur-PK" : /[پچژگکی]/.test(run) ? "fa-IR" : "ar-SA"),
  },
  { letter: "\\p{Script=Ethiopic}", usedIn: ["Ethi"], lang: "am-ET" },
  { letter: "\\p{Script=Armenian}", usedIn: ["Armn"], lang: "hy-AM" },
  { letter: "\\p{Script=Georgian}", usedIn: ["Geor"], lang: "ka-GE" },
  { letter: "\\p{Script=Cherokee}", usedIn: ["Cher"], lang: "chr-US" },
  { letter: "\\p{Script=Devanagari}", usedIn: ["Deva"], lang: "hi-IN" },
  { letter: "\\p{Script=Bengali}", usedIn: ["Beng"], lang: "bn-BD" },
  { letter: "\\p{Script=Gurmukhi}", usedIn: ["Guru"], lang: "pa-IN" },
  { letter: "\\p{Script=Gujarati}", usedIn: ["Gujr"], lang: "gu-IN" },
  { letter: "\\p{Script=Oriya}", usedIn: ["Orya"], lang: "or-IN" },
  { letter: "\\p{Script=Tamil}", usedIn: ["Taml"], lang: "ta-IN" },
  { letter: "\\p{Script=Telugu}", usedIn: ["Telu"], lang: "te-IN" },
  { letter: "\\p{Script=Kannada}", usedIn: ["Knda"], lang: "kn-IN" },
  { letter: "\\p{Script=Malayalam}", usedIn: ["Mlym"], lang: "ml-IN" },
  { letter: "\\p{Script=Sinhala}", usedIn: ["Sinh"], lang: "si-LK" },
  {
    letter: "\\p{Script=Cyrillic}",
    usedIn: ["Cyrl"],
    lang: (run) => (/[іїєґ]/i.test(run) ? "uk-UA" : /[ђћџљњј]/i.test(run) ? "sr-RS" : "ru-RU"),
    isLikeLatin: true,
  },
  { letter: "\\p{Script=Greek}", usedIn: ["Grek"], lang: "el-GR", minLength: 2, isLikeLatin: true },
];

/** Letters of scripts that no voice reads. */
export const unknownLetters = new RegExp(
  `[\\p{L}--[\\p{Script=Latin}${scripts.map(({ letter }) => letter).join("")}]]`,
  "gv",
);

/**
 * Matches letters of one script, the characters between them, and punctuation after them. Digits
 * alone are numbers of the reader's language.
 */
const runPattern = ({ letter, minLength = 1, isLikeLatin }: Script): string => {
  const letters = `(?!\\p{Nd})${letter.repeat(minLength)}(?:\\P{L}*${letter})*`;
  return isLikeLatin ? `(?<!\\p{Script=Latin})${letters}(?!\\p{Script=Latin})` : letters;
};
const ending = "[\\p{M}\\p{Cf}]*(?:[\"'…\\p{Pe}\\p{Pf}]|\\p{Terminal_Punctuation})*\\s*";

interface Foreign {
  readonly scripts: readonly Script[];
  readonly pattern: RegExp;
}

const foreignTo = new Map<string, Foreign>();

const foreignFor = ({ lang }: Reader): Foreign => {
  const own = scriptOf(lang) ?? "Latn";
  const known = foreignTo.get(own);
  if (known) return known;
  const foreign = scripts.filter(({ usedIn }) => !usedIn.includes(own));
  const pattern = new RegExp(foreign.map((one) => `(${runPattern(one)}${ending})`).join("|"), "gu");
  foreignTo.set(own, { scripts: foreign, pattern });
  return { scripts: foreign, pattern };
};

const beyondLatin = /[\u0370-\u1dff\u2e80-\uffdc\u{10000}-\u{3ffff}]/u;

/**
 * Divides a text where its letters need the voice of another language. Joined, the runs are the
 * text.
 */
export const scriptRuns = (text: string, reader: Reader): readonly ScriptRun[] => {
  if (!beyondLatin.test(text)) return [{ text, lang: undefined }];
  const { scripts, pattern } = foreignFor(reader);
  const runs: ScriptRun[] = [];
  /**
   * Words without letters belong to the run before them. At the beginning of the text they belong
   * to the run after them.
   */
  let held = "";
  const add = (words: string, lang: string | undefined): void => {
    const last = runs.at(-1);
    if (!isSpeakable(words) && !last) held += words;
    else if (last && (last.lang === lang || !isSpeakable(words)))
      runs[runs.length - 1] = { text: last.text + words, lang: last.lang };
    else {
      runs.push({ text: held + words, lang });
      held = "";
    }
  };
  let next = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > next) add(text.slice(next, match.index), undefined);
    const [run, ...groups] = match;
    const script = scripts[groups.findIndex((group) => group !== undefined)];
    add(run, typeof script?.lang === "function" ? script.lang(run, text) : script?.lang);
    next = match.index + run.length;
  }
  if (next < text.length) add(text.slice(next), undefined);
  return runs.length > 0 ? runs : [{ text, lang: undefined }];
};
