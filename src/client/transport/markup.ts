import type { TextPart } from "../text-parts.ts";

/** A text as it is sent. */
interface SentText {
  readonly text: string;
  /** Returns the offset in the part for an offset, in code points, in the text as sent. */
  plainOffset(codePoints: number): number;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * The part as an SSML document in which its words in other languages are in `<lang>`; the plain
 * text if it has none, because each character of the markup is charged.
 */
export const sentText = ({ text, spans = [] }: Pick<TextPart, "text" | "spans">): SentText => {
  let markup = "";
  /** The offset in the part of each code point of the markup. */
  const offsets: number[] = [];
  let at = 0;
  const write = (written: string): void => {
    for (const character of written) {
      markup += character;
      offsets.push(at);
    }
  };
  const writeText = (end: number): void => {
    for (const character of text.slice(at, end)) {
      write(spans.length > 0 ? (escapes[character] ?? character) : character);
      at += character.length;
    }
  };
  if (spans.length > 0) write("<speak>");
  for (const { charIndex, charLength, lang } of spans) {
    writeText(charIndex);
    write(`<lang xml:lang="${lang}">`);
    writeText(charIndex + charLength);
    write("</lang>");
  }
  writeText(text.length);
  if (spans.length > 0) write("</speak>");
  return { text: markup, plainOffset: (codePoints) => offsets[codePoints] ?? text.length };
};
