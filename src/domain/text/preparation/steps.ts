import { expandAbbreviations } from "./abbreviations.ts";
import { writeAmounts } from "./amounts.ts";
import { composeLetters, removeInvisible, writeNumerals, writePlainCharacters } from "./characters.ts";
import { joinGroups, writeDecimals, writeDigits } from "./digits.ts";
import { nameEmoji } from "./emoji.ts";
import { englishWords } from "./english/english.ts";
import { dropFullStops } from "./full-stops.ts";
import { readKanji } from "./kanji.ts";
import { asciiLetters } from "./latin-letters.ts";
import { joinLines } from "./lines.ts";
import { breakLongRuns } from "./long-runs.ts";
import { spellNumbers } from "./number-words.ts";
import { writeForPico } from "./pico.ts";
import type { Step } from "./reader.ts";
import { signSteps, writeMinusSigns } from "./signs.ts";
import { readableSpelling } from "./spellings.ts";
import { writeUnits } from "./units.ts";

/** Each step gets what the one before it has written. */
export const steps: readonly Step[] = [
  removeInvisible,
  writePlainCharacters,
  composeLetters,
  joinLines,
  writeNumerals,
  writeDigits,
  joinGroups,
  expandAbbreviations,
  englishWords,
  dropFullStops,
  writeMinusSigns,
  writeAmounts,
  writeUnits,
  ...signSteps,
  writeDecimals,
  spellNumbers,
  readableSpelling,
];

/**
 * These steps come later. They also change words whose pronunciation a document gives, because a
 * tool would skip them or crash.
 */
export const toolSteps: readonly Step[] = [
  nameEmoji,
  asciiLetters,
  writeForPico,
  readKanji,
  // It must be the last: no other step may make a run longer.
  breakLongRuns,
];
