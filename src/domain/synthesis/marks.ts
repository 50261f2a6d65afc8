/** When a word or sentence of a text is spoken. */
export interface Mark {
  /** When it begins, in whole milliseconds from the start of the sound. */
  readonly time: number;
  readonly type: "word" | "sentence";
  /** Its place in the text of the recipe, markup included, in code points. `end` is the first one after it. */
  readonly start: number;
  readonly end: number;
  /** Its text there. */
  readonly value: string;
}

/** Marks as they are kept and served: one JSON object per line, in order of time, a sentence before its first word. */
export const formatMarks = (marks: readonly Mark[]): Buffer =>
  Buffer.from(marks.map((mark) => `${JSON.stringify(mark)}\n`).join(""));

/** The inverse of `formatMarks`. */
export const parseMarks = (lines: Buffer): Mark[] =>
  lines
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Mark => JSON.parse(line));

export const marksMimeType = "application/x-ndjson";
export const marksExtension = "marks.json";

/** The name of the marks of an audio object. */
export const marksName = (objectName: string): string =>
  objectName.replace(/\.[^./]+$/, `.${marksExtension}`);

/** True for the name of marks, as opposed to that of audio. */
export const isMarksName = (name: string): boolean => name.endsWith(`.${marksExtension}`);
