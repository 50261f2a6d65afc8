import { z } from "zod";
import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import type { Mark } from "../../domain/synthesis/marks.ts";
import { placeMarks, type SpokenEvent } from "../../domain/text/place-marks.ts";
import { sentencesOf } from "../../domain/text/sentences.ts";
import { type SpokenText, spokenOf } from "../../domain/text/spoken-text.ts";
import type { SpeechRequest } from "../engine.ts";
import { parseJson } from "../parse-json.ts";
import type { UpstreamResponse } from "../provider-http/exchange.ts";
import { invalidResponse } from "../provider-http/responses.ts";

/** A word as the server spoke it, with its times from the start of the audio. */
export interface CaptionedWord {
  readonly word: string;
  readonly seconds: number;
}

/** A line of Kokoro-FastAPI's `/dev/captioned_speech`: a part of the samples, and its words. */
const captionedPart = z.object({
  audio: z.base64(),
  timestamps: z
    .array(z.object({ word: z.string().max(1000), start_time: z.number().nonnegative() }))
    .nullish(),
});

/** A line may hold about two minutes of samples. */
const maxLineBytes = 8 * 1024 * 1024;

/** A piece of text has fewer words. */
const maxWords = 10_000;

/**
 * The samples of a captioned response; its words are reported as they arrive.
 * @throws {UpstreamFailed} if it is not captioned
 */
export async function* readCaptioned(
  { body }: UpstreamResponse,
  onWord: (word: CaptionedWord) => void,
): AsyncGenerator<Buffer, void> {
  let words = 0;
  for await (const line of linesOf(body)) {
    const { audio, timestamps } = partOf(line);
    words += timestamps?.length ?? 0;
    if (words > maxWords) throw invalidResponse(`it has more than ${maxWords} words`);
    for (const { word, start_time } of timestamps ?? []) onWord({ word, seconds: start_time });
    if (audio !== "") yield Buffer.from(audio, "base64");
  }
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let held: Buffer[] = [];
  let size = 0;
  const end = (): string => {
    const line = Buffer.concat(held, size).toString().trim();
    held = [];
    size = 0;
    return line;
  };
  const hold = (bytes: Buffer): void => {
    held.push(bytes);
    size += bytes.length;
    if (size > maxLineBytes) throw invalidResponse(`a line is longer than ${maxLineBytes} bytes`);
  };
  for await (const chunk of body) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      const line = end();
      if (line !== "") yield line;
    }
    hold(chunk.subarray(from));
  }
  const last = end();
  if (last !== "") yield last;
}

const partOf = (line: string): z.output<typeof captionedPart> => {
  const { data } = captionedPart.safeParse(parseJson(line));
  if (!data) throw invalidResponse("it is not captioned speech");
  return data;
};

/**
 * Finds the marks of the spoken words that occur in the text, in order. Other words are spoken
 * differently from how they are written.
 */
export const captionMarks = (request: SpeechRequest, words: readonly CaptionedWord[]): Mark[] => {
  const { lang } = request;
  const spoken = spokenOf(request);
  return placeMarks(spoken, withSentences(findWords(spoken, words), spoken, lang), lang);
};

/**
 * A word is looked for within this many characters, because words that are spoken otherwise
 * (numbers) lie between.
 */
const searchRange = 200;

const findWords = ({ characters }: SpokenText, words: readonly CaptionedWord[]): SpokenEvent[] => {
  const lower = characters.map((one) => one.toLowerCase());
  const spoken = words
    .map(({ word, seconds }) => ({
      seconds,
      letters: Array.from(word.trim()).map((one) => one.toLowerCase()),
    }))
    .filter(({ letters }) => letters.some(isLetterOrDigit));
  const events: SpokenEvent[] = [];
  let from = 0;
  let unknown = 0;
  for (const [index, { letters, seconds }] of spoken.entries()) {
    const at = indexOfWord(lower, letters, { from, unknown, next: spoken[index + 1]?.letters });
    if (at < 0) {
      unknown++;
      continue;
    }
    events.push({ kind: "word", at, seconds });
    from = at + letters.length;
    unknown = 0;
  }
  return events;
};

const isLetterOrDigit = (character: string | undefined): boolean => /[\p{L}\p{N}]/u.test(character ?? "");

interface Search {
  readonly from: number;
  /** The number of words that were spoken since the last one that was found. */
  readonly unknown: number;
  /** The word that is spoken after this one. */
  readonly next: readonly string[] | undefined;
}

/**
 * The first place where the word begins a word; -1 if there is none. If more written words lie
 * before it than were spoken, the next spoken word must follow it. So the `two` of a spoken `42` is
 * not taken for the `two` of the next sentence.
 */
const indexOfWord = (characters: readonly string[], word: readonly string[], search: Search): number => {
  const { from, unknown, next } = search;
  const last = Math.min(characters.length - word.length, from + searchRange);
  let passed = 0;
  for (let at = from; at <= last; at++) {
    const begins = at === from || !isLetterOrDigit(characters[at - 1]);
    if (begins && isAt(characters, word, at)) {
      const end = at + word.length;
      if (passed <= unknown + 1 || (next && isAt(characters, next, nextLetter(characters, end)))) return at;
    }
    if (isLetterOrDigit(characters[at]) && !isLetterOrDigit(characters[at + 1])) passed++;
  }
  return -1;
};

const isAt = (characters: readonly string[], word: readonly string[], at: number): boolean =>
  word.every((one, index) => characters[at + index] === one);

const nextLetter = (characters: readonly string[], from: number): number => {
  const found = characters.slice(from, from + searchRange).findIndex(isLetterOrDigit);
  return found < 0 ? characters.length : from + found;
};

/** A sentence begins with its first word. */
const withSentences = (
  words: readonly SpokenEvent[],
  { characters }: SpokenText,
  lang: string,
): SpokenEvent[] => {
  let end = 0;
  const starts = sentencesOf(characters.join(""), lang).map((sentence) => {
    const start = end;
    end += countCharacters(sentence);
    return start;
  });
  let next = 0;
  return words.flatMap((word) => {
    let sentence: number | undefined;
    for (; (starts[next] ?? Number.POSITIVE_INFINITY) <= word.at; next++) sentence = starts[next];
    return sentence === undefined ? [word] : [{ ...word, kind: "sentence" as const, at: sentence }, word];
  });
};
