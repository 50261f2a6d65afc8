import type { Pair } from "../support/same-sound.ts";
import { english } from "./english.ts";
import { everydaySentences } from "./everyday-sentences.ts";

/** What is hard to read out, and the same in words. */
export const hardSentences: readonly Pair[] = [...Object.values(english).flat(), ...everydaySentences];
