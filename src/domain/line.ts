import { z } from "zod";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A text that fits in a line of a list or a log: 1 to `most` characters, none of them a control character. */
export const singleLine = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !controlCharacters.test(text), "Control characters are not taken.");
