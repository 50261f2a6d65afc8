import type { MappedText, Replacement } from "../mapped-text.ts";
import type { ReadElements } from "../ssml-runs.ts";
import { languageOf } from "./language.ts";

/** Describes what reads a prepared text aloud. */
export interface Reader {
  /** The language tag (BCP-47). */
  readonly lang: string;
  readonly tool: "espeak" | "flite" | "sherpa" | "hibari" | "pico" | "kokoro";
  /** The kana of a Japanese text, for a reader that does not know kanji. */
  readonly readingsOf?: ((text: string) => readonly Replacement[]) | undefined;
}

/** Rewrites what a reader would read wrongly, and nothing else. */
export type Step = (text: MappedText, reader: Reader) => MappedText;

/**
 * The tools that read the markup of documents. Other tools get plain texts, pauses and prosody.
 * flite's option for markup is not used, because flite never ends with it.
 */
export const readsMarkup: ReadonlySet<Reader["tool"]> = new Set(["espeak"]);

/**
 * Returns the elements that a tool reads itself. For all other elements, it gets texts, pauses and
 * prosody.
 */
export const elementsReadBy = (tool: Reader["tool"]): ReadElements => {
  if (readsMarkup.has(tool)) return "all";
  return tool === "hibari" || tool === "kokoro" ? "phonemes" : "none";
};

/** True if the front end in `natural/english` reads the text. */
export const isReadAsEnglish = ({ tool, lang }: Reader): boolean =>
  tool === "hibari" || (tool === "kokoro" && languageOf(lang) === "en");
