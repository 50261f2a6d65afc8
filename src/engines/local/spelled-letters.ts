import { scriptOf } from "../../domain/synthesis/least-duration.ts";

interface Spelled {
  readonly characters: RegExp;
  /** The languages that use the characters, by their scripts. */
  readonly usedIn: ReadonlySet<string>;
  readonly seconds: number;
}

const eastAsian: ReadonlySet<string> = new Set(["Hans", "Hant", "Jpan", "Kore"]);

/**
 * Of scripts that its language does not use, espeak-ng says each letter by its script and name ("Chinese letter"). Seconds at
 * the normal rate, the least of its English, French, German, Hindi and Russian voices, but for the first row their mean.
 */
const spelled: readonly Spelled[] = [
  { characters: /[\u3297\u3299]/gu, usedIn: eastAsian, seconds: 1.5 },
  {
    characters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3200-\u3296\u3298\u329a-\u33ff]/gu,
    usedIn: eastAsian,
    seconds: 0.7,
  },
  { characters: /\p{Script=Thai}/gu, usedIn: new Set(["Thai"]), seconds: 0.95 },
  { characters: /\p{Script=Khmer}/gu, usedIn: new Set(["Khmr"]), seconds: 1 },
  { characters: /\p{Script=Ethiopic}/gu, usedIn: new Set(["Ethi"]), seconds: 1.35 },
  { characters: /\p{Script=Myanmar}/gu, usedIn: new Set(["Mymr"]), seconds: 1.4 },
];

/** Seconds at the normal rate that espeak-ng needs for the letters that it spells. */
export const spelledSeconds = (text: string, lang: string): number => {
  const script = scriptOf(lang) ?? "";
  return spelled
    .filter(({ usedIn }) => !usedIn.has(script))
    .reduce((sum, { characters, seconds }) => sum + seconds * (text.match(characters)?.length ?? 0), 0);
};
