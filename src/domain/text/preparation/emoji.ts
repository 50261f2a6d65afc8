import { rewrite } from "../mapped-text.ts";
import { languageOf } from "./language.ts";
import { isReadAsEnglish, type Step } from "./reader.ts";
import { apart } from "./signs.ts";
import { emoji, emojiNames } from "./words/emoji.ts";

const one = "\\p{Extended_Pictographic}\\ufe0f?\\p{Emoji_Modifier}?";
const sequence = `\\p{RI}{2}|${one}(?:[\\u{e0020}-\\u{e007e}]+\\u{e007f}|(?:\\u200d${one})*)|\\p{Emoji_Modifier}`;
const sequences = new RegExp(sequence, "gu");
const rows = new RegExp(`(?:${sequence})+`, "gu");

/**
 * Writes the names of emoji, as espeak-ng says them, for readers that would skip emoji. Other
 * readers name or refuse them.
 */
export const nameEmoji: Step = (text, reader) => {
  const { tool, lang } = reader;
  if (tool !== "pico" && !isReadAsEnglish(reader)) return text;
  const names = namesOf(languageOf(lang));
  if (!names) return text;
  return rewrite(text, rows, ({ 0: row, index, input }) => {
    const found = Array.from(row.matchAll(sequences), ([one]) => nameOf(one.replaceAll("\ufe0f", ""), names));
    return found.includes(undefined)
      ? undefined
      : apart(found.join(" "), { input, start: index, end: index + row.length });
  });
};

/**
 * A sequence without a name is read by the names of its emoji, for example a hand and a skin tone.
 */
const nameOf = (sequence: string, names: ReadonlyMap<string, string>): string | undefined => {
  const whole = names.get(sequence);
  if (whole !== undefined) return whole;
  const [, base = "", tone = ""] = /^(.*?)(\p{Emoji_Modifier})(?=$|\u200d)/u.exec(sequence) ?? [];
  const plain = names.get(sequence.replace(/\p{Emoji_Modifier}/gu, ""));
  if (base !== "" && plain !== undefined) return `${plain} ${names.get(tone) ?? ""}`;
  const parts = Array.from(sequence).flatMap((character) => names.get(character) ?? []);
  return parts.length > 0 ? parts.join(" ") : undefined;
};

const read = new Map<string, ReadonlyMap<string, string>>();

/** The keys are emoji without variation selectors. */
const namesOf = (language: string): ReadonlyMap<string, string> | undefined => {
  const row = Object.hasOwn(emojiNames, language) ? emojiNames[language] : undefined;
  if (row === undefined) return undefined;
  const known = read.get(language);
  if (known) return known;
  const names = row.split(";");
  const found = new Map(emoji.split(" ").map((one, at) => [one, names[at] ?? ""]));
  read.set(language, found);
  return found;
};
