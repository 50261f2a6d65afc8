import { EngineFailed } from "../errors.ts";
import type { Prosody } from "./speech.ts";

/**
 * The most letters per second that any voice speaks at the normal rate. Ordinary speech in
 * languages with alphabets has 12 to 18 letters per second, that of auctioneers about 30.
 */
const maxLettersPerSecond = 35;

/**
 * Shorter texts are not judged: abbreviations that are read as one sound, or a word that the voice
 * skips, weigh too much in them. 100 letters take about 7 seconds in ordinary speech, and 2.9
 * seconds at `maxLettersPerSecond`.
 */
const minLetters = 100;

/** Voices may skip or shorten longer words, such as keys and digests. */
const maxLettersOfWord = 15;

/**
 * Alphabets, by their ISO 15924 codes. In other scripts a letter is a syllable or more, or vowels
 * are not written. A voice may skip letters of a script that its language does not use, so they do
 * not count.
 */
const alphabets: Readonly<Record<string, RegExp>> = {
  Latn: /\p{Script=Latin}+/gu,
  Cyrl: /\p{Script=Cyrillic}+/gu,
  Grek: /\p{Script=Greek}+/gu,
};

/** These properties of a request decide how fast its text may be spoken. */
interface Manner {
  readonly ssml: boolean;
  readonly lang: string;
  readonly prosody: Prosody;
  readonly instructions?: string;
}

/**
 * The least seconds that any speech of the text takes; 0 if no bound is known. Servers of speech
 * may respond with 200 although sentences are missing: Kokoro-FastAPI logs an error in one of its
 * parts and continues with the next (`_process_chunk` in api/src/services/tts_service.py). Markup,
 * code and URLs do not count, because a server may skip them. SSML may change the rate or replace
 * the text, and instructions may ask for anything.
 */
export const minDuration = (text: string, { ssml, lang, prosody, instructions }: Manner): number => {
  if (ssml || instructions) return 0;
  const letters = countLetters(withoutMarkup(text), lang);
  // Not every server slows down, so a low rate does not raise the bound.
  return letters < minLetters ? 0 : letters / (maxLettersPerSecond * Math.max(1, prosody.rate));
};

const withoutMarkup = (text: string): string =>
  withoutCode(text)
    .replace(/\]\([^()]*\)/g, "]") // the target of a Markdown link
    .replace(/<[/!]?[a-z-][^<>]*>/gi, " ")
    .replace(/\b(?:\w+:\/\/|www\.)\S+/gi, " ");

/**
 * Removes Markdown's fenced code blocks. Returns an empty text if a fence is unpaired, because the
 * text may be a part of a longer one.
 */
const withoutCode = (text: string): string => {
  const parts = text.split(/`{3,}|~{3,}/);
  return parts.length % 2 === 0 ? "" : parts.filter((_, index) => index % 2 === 0).join(" ");
};

const countLetters = (text: string, lang: string): number => {
  const alphabet = alphabets[scriptOf(lang) ?? ""];
  if (!alphabet) return 0;
  let letters = 0;
  for (const [word] of text.matchAll(alphabet)) {
    // A letter that is repeated more than twice is not pronounced as often.
    const pronounced = word.replace(/(.)\1{2,}/gu, "$1$1");
    letters += Math.min(pronounced.length, maxLettersOfWord);
  }
  return letters;
};

/** The script that a language is usually written in (ISO 15924). */
export const scriptOf = (lang: string): string | undefined => {
  try {
    return new Intl.Locale(lang).maximize().script;
  } catch {
    return undefined; // an invalid language tag
  }
};

/**
 * @throws {EngineFailed} if the audio is shorter than `least`. It does not count against a circuit
 * breaker: the text may be unusual.
 */
export const requireDuration = (seconds: number, least: number): void => {
  if (seconds < least)
    throw new EngineFailed(
      `The audio lasts ${seconds.toFixed(1)} s, but its text takes at least ${least.toFixed(1)} s: parts of it are missing.`,
    );
};
