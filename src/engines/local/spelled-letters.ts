import { scriptOf } from "../../domain/synthesis/least-duration.ts";
import { unknownLetters } from "../../domain/text/preparation/script-runs.ts";

interface Spelled {
  readonly characters: RegExp;
  /** The languages that use the characters, by their scripts. */
  readonly usedIn: ReadonlySet<string>;
  readonly seconds: number;
}

const eastAsian: ReadonlySet<string> = new Set(["Hans", "Hant", "Jpan", "Kore"]);
const none: ReadonlySet<string> = new Set();

/**
 * espeak-ng says each sign in a circle or square, and each letter that no voice knows, by its
 * script, name or number ("letter 1 7 9 C"). Seconds at the normal rate, the least of its English,
 * French, German, Hindi and Russian voices, but for the first row their mean.
 */
const spelled: readonly Spelled[] = [
  { characters: /[\u3297\u3299]/gu, usedIn: eastAsian, seconds: 1.5 },
  { characters: /[\u3200-\u3296\u3298\u329a-\u33ff]/gu, usedIn: eastAsian, seconds: 0.7 },
  { characters: unknownLetters, usedIn: none, seconds: 0.8 },
];

/** Seconds at the normal rate that espeak-ng needs for the letters that it spells. */
export const spelledSeconds = (text: string, lang: string): number => {
  const script = scriptOf(lang) ?? "";
  return spelled
    .filter(({ usedIn }) => !usedIn.has(script))
    .reduce((sum, { characters, seconds }) => sum + seconds * (text.match(characters)?.length ?? 0), 0);
};
