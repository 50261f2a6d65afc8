import { type MappedText, rewrite } from "../mapped-text.ts";
import { isReadAsEnglish, type Reader } from "./reader.ts";

/**
 * Letters that flite, which knows only ASCII, would skip. It removes accents itself, so letters
 * with accents are not listed.
 */
export const inAscii: Readonly<Record<string, string>> = {
  ...{ ß: "ss", ẞ: "SS", æ: "ae", Æ: "AE", œ: "oe", Œ: "OE", ø: "o", Ø: "O", ł: "l", Ł: "L" },
  ...{ đ: "d", Đ: "D", ð: "th", Ð: "Th", þ: "th", Þ: "Th", ħ: "h", Ħ: "H", ı: "i", ĸ: "k", ŋ: "ng", Ŋ: "Ng" },
  ...{ ŧ: "t", Ŧ: "T", ƀ: "b", Ƀ: "B", ɓ: "b", Ɓ: "B", ƈ: "c", Ƈ: "C", ɖ: "d", Ɖ: "D", ɗ: "d", Ɗ: "D" },
  ...{ ǝ: "e", Ǝ: "E", ə: "a", Ə: "A", ɛ: "e", Ɛ: "E", ƒ: "f", Ƒ: "F", ɠ: "g", Ɠ: "G", ɣ: "g", Ɣ: "G" },
  ...{ ɨ: "i", Ɨ: "I", ɩ: "i", Ɩ: "I", ƙ: "k", Ƙ: "K", ƚ: "l", Ƚ: "L", ɲ: "ny", Ɲ: "Ny", ɔ: "o", Ɔ: "O" },
  ...{ ɵ: "o", Ɵ: "O", ƥ: "p", Ƥ: "P", ƭ: "t", Ƭ: "T", ʉ: "u", Ʉ: "U", ʊ: "u", Ʊ: "U", ʋ: "v", Ʋ: "V" },
  ...{ ƴ: "y", Ƴ: "Y", ƶ: "z", Ƶ: "Z", ʒ: "zh", Ʒ: "Zh", ȷ: "j", ǥ: "g", Ǥ: "G", ɉ: "j", Ɉ: "J" },
  ...{
    ʃ: "sh",
    Ʃ: "Sh",
    ɑ: "a",
    Ɑ: "A",
    ʌ: "u",
    Ʌ: "U",
    ɪ: "i",
    ɾ: "r",
    ɹ: "r",
    ʁ: "r",
    ʔ: "'",
    ʼ: "'",
    Ꞌ: "'",
    ꞌ: "'",
  },
};

/**
 * The names of Greek letters. Like flite and SVOX Pico, hibari and Kokoro do not read a Greek
 * letter that stands alone in a Latin text.
 */
const greekNames =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega";
const alpha = "α".charCodeAt(0);
const greek = greekNames.split(" ");

export const asciiLetters = (text: MappedText, reader: Reader): MappedText => {
  const { tool } = reader;
  if (tool === "espeak") return rewrite(text, /[Ꞌꞌ]/g, () => "'"); // espeak-ng skips the saltillo
  if (tool !== "flite" && tool !== "pico" && !isReadAsEnglish(reader)) return text;
  const named = rewrite(text, singleGreek, ([letter]) => nameOf(letter));
  return tool === "flite" ? rewrite(named, latin, ([letter]) => inAscii[letter]) : named;
};

const singleGreek = /(?<!\p{Script=Greek})\p{Script=Greek}(?!\p{Script=Greek})/gu;
const latin = new RegExp(`[${Object.keys(inAscii).join("")}]`, "gu");

/** The name of a Greek letter, between blanks: "μm" becomes "mu m". */
const nameOf = (letter: string): string | undefined => {
  const plain = letter.normalize("NFKD").charAt(0).toLowerCase();
  const name = greek[plain.charCodeAt(0) - alpha];
  return name && ` ${name} `;
};
