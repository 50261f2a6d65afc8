import { expandAbbreviations } from "./abbreviations.ts";
import { englishWords } from "./english/english.ts";
import { dropFullStops } from "./full-stops.ts";
import { joinLines } from "./lines.ts";
import { breakLongRuns } from "./long-runs.ts";
import type { Step } from "./reader.ts";
import { readableSpelling } from "./spellings.ts";

/** In this order: each step gets what the one before it has written. */
export const steps: readonly Step[] = [
  joinLines,
  expandAbbreviations,
  englishWords,
  dropFullStops,
  readableSpelling,
  // The last: no other step may make a run longer.
  breakLongRuns,
];
