import { rewrite } from "../mapped-text.ts";
import { fullStopAt } from "../sentences.ts";
import { isReadAsEnglish, type Step } from "./reader.ts";

/**
 * Removes full stops within a sentence, at which a tool would pause. espeak-ng pauses only before
 * capital letters and digits, and it knows abbreviations and ordinals by their stops.
 */
export const dropFullStops: Step = (text, reader) => {
  const { lang, tool } = reader;
  if (isReadAsEnglish(reader) || !stops.test(text.text)) return text;
  const pattern = tool === "flite" ? stops : beforeCapital;
  return rewrite(text, new RegExp(pattern, "gu"), ({ index }) =>
    fullStopAt(text.text, index, lang) === "none" ? "" : undefined,
  );
};

/** Matches full stops that are not part of an ellipsis. */
const stops = /(?<!\.)\.(?=[\p{Pe}\p{Pf}"'*_]*\s+\S)/u;
const beforeCapital = /(?<!\.)\.(?=[\p{Pe}\p{Pf}"'*_]*\s+(?:[^\p{L}\s]*[\p{Lu}\p{Lo}]|[^\p{L}\s]*\p{Nd}))/u;
