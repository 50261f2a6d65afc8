import { type MappedText, unchanged } from "../mapped-text.ts";
import { firstEndingAfter } from "../place-marks.ts";
import { moveMarks, type SpokenText, spokenOf, type WrittenText } from "../spoken-text.ts";
import { anyDialect, parseSsml, type WordsPlace } from "../ssml.ts";
import { plainRun, type Run, runsOf } from "../ssml-runs.ts";
import type { Speaker } from "../ssml-speaker.ts";
import { escapeXml } from "../xml.ts";
import { elementsReadBy, type Reader, type Step } from "./reader.ts";
import { isSpelled, sayAs as readAs } from "./say-as.ts";
import { scriptRuns } from "./script-runs.ts";
import { steps, toolSteps } from "./steps.ts";

/**
 * The version of the preparation of texts for local engines. Only recipes of their audio have it.
 * Raise it in each release that changes the preparation, or names would lead to audio of earlier
 * releases.
 */
export const preparationVersion = 1;

export interface PreparedText {
  readonly runs: readonly Run[];
  /** The spoken characters, and where they are in the text as sent. */
  readonly spoken: SpokenText;
}

/** Finds the reader of each speaker's words in a text. */
type FindReader = (speaker: Speaker) => Reader;

/**
 * Turns what people write into what a tool can speak. Only `toolSteps` change words whose
 * pronunciation a document gives.
 */
export const prepare = (written: WrittenText, readerOf: FindReader): PreparedText => {
  const before = spokenOf(written);
  const parts: MappedText[] = [];
  const prepareTurns = (words: string, speaker: Speaker): Turn[] =>
    turnsOf(words, speaker, readerOf).map((turn) => {
      const part = prepareWords(unchanged(turn.text), readerOf(turn.speaker));
      parts.push(part);
      return { ...turn, text: part.text };
    });
  if (!written.ssml) {
    const runs = prepareTurns(written.text, {}).map(({ text, speaker }, index) =>
      plainRun(text, speaker, index > 0),
    );
    return { runs, spoken: spokenAs(before, parts) };
  }
  const write = (words: string, place: WordsPlace): string => {
    const { isFixed, sayAs, speaker } = place;
    if (!isFixed && !sayAs) return prepareTurns(words, speaker).map(turnXml).join("");
    const part = prepareFixed(words, place, readerOf(speaker));
    parts.push(part);
    return escapeXml(part.text);
  };
  const document = parseSsml(written.text, write, anyDialect);
  const runs = runsOf(document, (speaker) => elementsReadBy(readerOf(speaker).tool));
  return { runs, spoken: spokenAs(before, parts) };
};

/** All speakers of a text, in the order of its words, some repeatedly. */
export const speakersOf = (
  { text, ssml }: Pick<WrittenText, "text" | "ssml">,
  readerOf: FindReader,
): readonly Speaker[] => {
  const speakersIn = (words: string, speaker: Speaker): Speaker[] =>
    turnsOf(words, speaker, readerOf).map((turn) => turn.speaker);
  if (!ssml) return speakersIn(text, {});
  const speakers: Speaker[] = [];
  const note = (words: string, { isFixed, sayAs, speaker }: WordsPlace): string => {
    if (isFixed || sayAs) speakers.push(speaker);
    else speakers.push(...speakersIn(words, speaker));
    return "";
  };
  parseSsml(text, note, anyDialect);
  return speakers;
};

/** Consecutive words of one speaker in one script. */
interface Turn {
  readonly text: string;
  readonly speaker: Speaker;
  /** The language of their script, if the speaker does not read it. */
  readonly lang: string | undefined;
}

const turnsOf = (words: string, speaker: Speaker, readerOf: FindReader): Turn[] =>
  scriptRuns(words, readerOf(speaker)).map(({ text, lang }) => ({
    ...{ text, lang },
    speaker: lang === undefined ? speaker : { ...speaker, lang },
  }));

const turnXml = ({ text, lang }: Turn): string =>
  lang === undefined ? escapeXml(text) : `<lang xml:lang="${lang}">${escapeXml(text)}</lang>`;

const prepareWords = (words: MappedText, reader: Reader): MappedText =>
  applySteps(toolSteps, applySteps(steps, words, reader), reader);

const prepareFixed = (words: string, { sayAs }: WordsPlace, reader: Reader): MappedText => {
  if (!sayAs) return applySteps(toolSteps, unchanged(words), reader);
  const said = readAs(words, sayAs, reader);
  return isSpelled(sayAs) ? applySteps(toolSteps, said, reader) : prepareWords(said, reader);
};

const applySteps = (applied: readonly Step[], words: MappedText, reader: Reader): MappedText =>
  applied.reduce((text, step) => step(text, reader), words);

/** The spoken text after its consecutive parts were rewritten. */
const spokenAs = (before: SpokenText, parts: readonly MappedText[]): SpokenText => {
  const characters: string[] = [];
  const from: number[] = [];
  const to: number[] = [];
  let start = 0;
  for (const part of parts) {
    let unit = 0;
    for (const character of part.text) {
      characters.push(character);
      from.push(start + (part.from[unit] ?? 0));
      unit += character.length;
      to.push(start + (part.to[unit - 1] ?? 0));
    }
    start += part.length;
  }
  const { replaced } = before;
  const firstFrom = (at: number): number =>
    firstEndingAfter(at - 1, from.length, (index) => from[index] ?? 0);
  return {
    characters,
    starts: from.map((at) => before.starts[at] ?? 0),
    ends: to.map((at) => before.ends[at - 1] ?? 0),
    breaks: new Set(Array.from(before.breaks, firstFrom)),
    ...moveMarks(before, firstFrom),
    replaced: {
      from: replaced ? from.map((at) => replaced.from[at] ?? 0) : from,
      to: replaced ? to.map((at) => replaced.to[at - 1] ?? 0) : to,
    },
  };
};
