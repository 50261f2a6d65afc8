/** The time at which a word or sentence of a text is spoken, or a `<mark>` is reached. */
export interface Mark {
  /** The beginning of what is marked, in whole milliseconds from the start of the audio. */
  readonly time: number;
  readonly type: "word" | "sentence" | "mark";
  /**
   * The place of the word, sentence or `<mark>` in the text of the recipe, markup included, in code
   * points. `end` is the first code point after it. A `<mark>` has the place of its tag, in which
   * the caller finds its name.
   */
  readonly start: number;
  readonly end: number;
}

/**
 * Marks as they are kept and served: one JSON object per line, in order of time, a sentence before
 * its first word. They never contain the words: marks are public, and a text is never stored.
 */
export const formatMarks = (marks: readonly Mark[]): Buffer =>
  Buffer.from(
    marks.map(({ time, type, start, end }) => `${JSON.stringify({ time, type, start, end })}\n`).join(""),
  );

/** The inverse of `formatMarks`. */
export const parseMarks = (lines: Buffer): Mark[] =>
  lines
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Mark => JSON.parse(line));

/** Removes the words, which earlier versions stored as `value`. */
export const withoutWords = (lines: Buffer): Buffer =>
  lines.includes('"value":') ? formatMarks(parseMarks(lines)) : lines;

export const marksMimeType = "application/x-ndjson";
export const marksExtension = "marks.json";

/** The name of the marks of an audio object. */
export const marksName = (audioName: string): string => audioName.replace(/\.[^./]+$/, `.${marksExtension}`);

/** True for the name of marks, as opposed to that of audio. */
export const isMarksName = (name: string): boolean => name.endsWith(`.${marksExtension}`);
