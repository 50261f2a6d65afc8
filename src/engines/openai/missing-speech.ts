import { EngineFailed } from "../../domain/errors.ts";
import { leastDuration } from "../../domain/synthesis/least-duration.ts";
import type { SpeechRequest } from "../engine.ts";
import type { SpokenEvent } from "../text/place-marks.ts";
import { type CaptionedWord, findWords, isLetterOrDigit } from "./captions.ts";

/** A piece of text, the words that the server reported for it, and the duration of its audio. */
interface CaptionedPiece {
  readonly text: string;
  readonly words: readonly CaptionedWord[];
  readonly seconds: number;
}

/** So many words in a row, at a place of the text where they are in a row too, are certainly at their place. */
const certainWords = 3;
/** In seconds. After a longer one, words may be missing in the report. */
const longestPause = 1;

/**
 * @throws {EngineFailed} more of the text lies between two words, or after the last one, than can be spoken in the time between
 * them. Words that are not reported prove nothing: Kokoro-FastAPI stops its report of a part at a token without a time.
 */
export const requireSpokenThroughout = (
  { text, words, seconds }: CaptionedPiece,
  request: SpeechRequest,
): void => {
  const characters = Array.from(text, (one) => one.toLowerCase());
  // Anywhere ahead: a missing part may be longer than the range in which marks are looked for.
  const known = certain(characters, findWords({ characters }, words, characters.length));
  let last = { at: 0, seconds: 0 };
  for (const next of [...known, { at: characters.length, seconds }]) {
    const between = characters.slice(last.at, next.at).join("");
    const time = Math.max(0, next.seconds - last.seconds); // a reported time may lie after the end of the sound
    if (time < leastDuration(between, request)) throw missingSpeech();
    last = next;
  }
};

const missingSpeech = (): EngineFailed =>
  new EngineFailed("The audio lacks a part of its text: the words around it follow too closely.");

/** The words of runs that occur once in the text: those of others may belong to a later place, if words before are not reported. */
const certain = (characters: readonly string[], words: readonly SpokenEvent[]): SpokenEvent[] => {
  const text = characters.join("");
  return runsOf(characters, words)
    .filter((run) => {
      if (run.length < certainWords) return false;
      const spoken = characters.slice(run[0]?.at, nextWord(characters, run.at(-1)?.at ?? 0)).join("");
      return text.indexOf(spoken) === text.lastIndexOf(spoken);
    })
    .flat();
};

/** Words that follow each other in the text and in time. */
const runsOf = (characters: readonly string[], words: readonly SpokenEvent[]): SpokenEvent[][] => {
  const runs: SpokenEvent[][] = [];
  let last: SpokenEvent | undefined;
  for (const word of words) {
    const follows =
      last !== undefined &&
      word.at === nextWord(characters, last.at) &&
      word.seconds - last.seconds < longestPause;
    if (follows) runs.at(-1)?.push(word);
    else runs.push([word]);
    last = word;
  }
  return runs;
};

const nextWord = (characters: readonly string[], from: number): number => {
  let at = from;
  while (at < characters.length && isLetterOrDigit(characters[at])) at++;
  while (at < characters.length && !isLetterOrDigit(characters[at])) at++;
  return at;
};
