import { type MappedText, unchanged } from "../mapped-text.ts";
import { moveMarks, type SpokenText, spokenOf, type WrittenText } from "../spoken-text.ts";
import { anyDialect, parseSsml, type WordsPlace } from "../ssml.ts";
import { plainRun, type Run, runsOf } from "../ssml-runs.ts";
import type { Speaker } from "../ssml-speaker.ts";
import { escapeXml } from "../xml.ts";
import { type Reader, readsMarkup } from "./reader.ts";
import { isSpelled, sayAs as readAs } from "./say-as.ts";
import { steps } from "./steps.ts";

/**
 * Of what local engines are asked to speak; part of the recipes of their audio and of no other. Raise it in each release that
 * changes the preparation, or names would lead to audio of earlier ones.
 */
export const preparationVersion = 1;

export interface PreparedText {
  readonly runs: readonly Run[];
  /** Their spoken characters, and where they are in the text as sent. */
  readonly spoken: SpokenText;
}

/**
 * Turns what people write into what a tool can speak. Words whose pronunciation a document gives stay as they are. `readerOf`: the
 * reader of words that another voice speaks.
 */
export const prepare = (
  written: WrittenText,
  reader: Reader,
  readerOf = ({ lang = reader.lang }: Speaker): Reader => ({ ...reader, lang }),
): PreparedText => {
  const before = spokenOf(written);
  if (!written.ssml) {
    const words = prepareWords(unchanged(written.text), reader);
    return { runs: [plainRun(words.text)], spoken: spokenAs(before, [words]) };
  }
  const parts: MappedText[] = [];
  const write = (words: string, place: WordsPlace): string => {
    const part = prepareIn(words, place, readerOf(place.speaker));
    parts.push(part);
    return escapeXml(part.text);
  };
  const document = parseSsml(written.text, write, anyDialect);
  const runs = runsOf(document, (speaker) => readsMarkup.has(readerOf(speaker).tool));
  return { runs, spoken: spokenAs(before, parts) };
};

const prepareWords = (words: MappedText, reader: Reader): MappedText =>
  steps.reduce((text, step) => step(text, reader), words);

const prepareIn = (words: string, { isFixed, sayAs }: WordsPlace, reader: Reader): MappedText => {
  if (!sayAs) return isFixed ? unchanged(words) : prepareWords(unchanged(words), reader);
  const said = readAs(words, sayAs, reader);
  return isSpelled(sayAs) ? said : prepareWords(said, reader);
};

/** A text as it is spoken when its consecutive parts are written in another way. */
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
  return {
    characters,
    starts: from.map((at) => before.starts[at] ?? 0),
    ends: to.map((at) => before.ends[at - 1] ?? 0),
    breaks: new Set(Array.from(before.breaks, (at) => firstFrom(from, at))),
    ...moveMarks(before, (at) => firstFrom(from, at)),
    replaced: {
      from: replaced ? from.map((at) => replaced.from[at] ?? 0) : from,
      to: replaced ? to.map((at) => replaced.to[at - 1] ?? 0) : to,
    },
  };
};

const firstFrom = (from: readonly number[], at: number): number => {
  const index = from.findIndex((place) => place >= at);
  return index === -1 ? from.length : index;
};
