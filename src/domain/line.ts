import { z } from "zod";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A text on a single line: 1 to `most` characters, without control characters. */
export const singleLine = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !controlCharacters.test(text), "Control characters are not allowed.");
