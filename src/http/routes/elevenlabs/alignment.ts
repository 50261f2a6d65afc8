import { z } from "zod";
import { countCharacters } from "../../../domain/synthesis/count-characters.ts";
import type { Mark } from "../../../domain/synthesis/marks.ts";
import { speakingSeconds } from "../../../domain/synthesis/speaking-time.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { type SsmlContent, speakTag } from "./ssml-content.ts";

export const CharacterAlignment = namedSchema("ElevenLabsAlignment", {
  characters: z.array(z.string()).meta({ description: "The text's code points." }),
  character_start_times_seconds: z.array(z.number()),
  character_end_times_seconds: z.array(z.number()),
});

/**
 * The time at which each character (code point) of a text is spoken, in seconds. Each character
 * ends when the next one begins.
 */
export type Alignment = z.output<typeof CharacterAlignment>;

/** A character at which the time is known. */
interface Anchor {
  readonly at: number;
  readonly seconds: number;
}

/**
 * Distributes the time from each word to the next over the characters in between, by their
 * estimated speaking time. A `<break>` takes its own time, other markup none. Times never decrease,
 * and the last character ends with the audio.
 * @param marks of exactly this text
 */
export const alignCharacters = (
  { text, ssml }: { readonly text: string; readonly ssml: boolean },
  marks: readonly Mark[],
  audioSeconds: number,
): Alignment => {
  const characters = [...text];
  const weights = ssml ? withoutMarkup(characters) : characters.map(weightOf);
  const pauses = ssml ? pausesOf(text, characters.length) : characters.map(() => 0);
  const times: number[] = [];
  const anchors = anchorsOf(marks, characters.length, audioSeconds);
  for (const [index, { at, seconds }] of anchors.entries()) {
    const next = anchors[index + 1];
    if (!next) continue;
    const part = [at, next.at] as const;
    times.push(...distribute(weights.slice(...part), pauses.slice(...part), seconds, next.seconds));
  }
  const rounded = [...times, audioSeconds].map((seconds) => Math.round(seconds * 1000) / 1000);
  return {
    characters,
    character_start_times_seconds: rounded.slice(0, -1),
    character_end_times_seconds: rounded.slice(1),
  };
};

/** Converts the alignment of a document to the alignment of its content, as the client sent it. */
export const withoutEscapes = (whole: Alignment, { lengths }: SsmlContent): Alignment => {
  const { characters, character_start_times_seconds: starts, character_end_times_seconds: ends } = whole;
  const sent = { characters: [] as string[], starts: [] as number[], ends: [] as number[] };
  let at = speakTag.length;
  for (const length of lengths) {
    const written = characters.slice(at, at + length).join("");
    sent.characters.push(escaped[written] ?? written);
    sent.starts.push(starts[at] ?? 0);
    at += length;
    sent.ends.push(ends[at - 1] ?? 0);
  }
  return {
    characters: sent.characters,
    character_start_times_seconds: sent.starts,
    character_end_times_seconds: sent.ends,
  };
};

const escaped: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/**
 * Finds the characters with known times, in order. The first anchor is the first character, the
 * last one is the end of the text and the audio. Uses the times of sentences if no times of words
 * are known.
 */
const anchorsOf = (marks: readonly Mark[], length: number, audioSeconds: number): Anchor[] => {
  const anchors: Anchor[] = [{ at: 0, seconds: 0 }];
  const kind = marks.some(({ type }) => type === "word") ? "word" : "sentence";
  for (const { type, start, time } of marks) {
    const last = anchors.at(-1) as Anchor;
    if (type !== kind || start >= length) continue;
    const seconds = Math.min(Math.max(time / 1000, last.seconds), audioSeconds);
    if (start > last.at) anchors.push({ at: start, seconds });
    else if (anchors.length === 1) anchors[0] = { at: 0, seconds };
  }
  return [...anchors, { at: length, seconds: audioSeconds }];
};

/**
 * Computes when each character begins. `pauses`: the seconds of a pause at each character, in
 * addition to its weight.
 */
const distribute = (
  weights: readonly number[],
  pauses: readonly number[],
  from: number,
  to: number,
): number[] => {
  const total = sum(weights);
  const silent = sum(pauses);
  // A voice may pause for less than the break says: the words must keep some of the time.
  const silence = total > 0 ? Math.min(silent, (to - from) * maxSilence) : to - from;
  const spoken = to - from - (silent > 0 ? silence : 0);
  let before = 0;
  let paused = 0;
  return weights.map((weight, index) => {
    const share = total > 0 ? before / total : silent > 0 ? 0 : index / weights.length;
    const start = from + spoken * share + (silent > 0 ? (silence * paused) / silent : 0);
    before += weight;
    paused += pauses[index] ?? 0;
    return start;
  });
};

/** At most this share of the time of a word is silence. */
const maxSilence = 0.9;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const breakElement = /<break\b([^<>]*)>/g;
const timeAttribute = /\btime\s*=\s*["']\+?(\d*\.?\d+)(ms|s)["']/;
const strengthAttribute = /\bstrength\s*=\s*["']([\w-]+)["']/;

/** The seconds that espeak-ng pauses for each strength. */
const strengthSeconds: Readonly<Record<string, number>> = {
  none: 0,
  "x-weak": 0.07,
  weak: 0.14,
  medium: 0.21,
  strong: 0.4,
  "x-strong": 0.8,
};

/**
 * The seconds of a `<break>` at its first character, and 0 at every other character. `length`: the
 * length of the text in code points.
 */
const pausesOf = (text: string, length: number): readonly number[] => {
  const pauses = new Array<number>(length).fill(0);
  let units = 0;
  let place = 0;
  for (const { index, 1: attributes = "" } of text.matchAll(breakElement)) {
    place += countCharacters(text.slice(units, index));
    units = index;
    const [, time, unit] = timeAttribute.exec(attributes) ?? [];
    const [, strength = "medium"] = strengthAttribute.exec(attributes) ?? [];
    const seconds =
      time === undefined ? strengthSeconds[strength] : Number(time) / (unit === "ms" ? 1000 : 1);
    if (seconds !== undefined && seconds > 0) pauses[place] = seconds;
  }
  return pauses;
};

const withoutMarkup = (characters: readonly string[]): number[] => {
  let isMarkup = false;
  return characters.map((character) => {
    if (character === "<") isMarkup = true;
    const weight = isMarkup ? 0 : weightOf(character);
    if (character === ">") isMarkup = false;
    return weight;
  });
};

/** No character takes less time. A blank between words takes this time. */
const shortestSeconds = 0.03;

const weightOf = (character: string): number => Math.max(speakingSeconds(character), shortestSeconds);
