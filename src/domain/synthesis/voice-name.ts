import { z } from "zod";
import { countCharacters } from "./count-characters.ts";

/**
 * Printable and fit for one segment of a path: no control or formatting characters, no slashes, no
 * dot segments.
 */
const printable = /^(?!\.{1,2}$)(?! )[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]+(?<! )$/u;

/** Unique and case-sensitive within a catalog. */
export const voiceName = z
  .string()
  .refine(
    (name) => countCharacters(name) <= 100 && printable.test(name),
    "A name has 1 to 100 printable characters, no slashes, and no spaces at its ends.",
  );
