import { nothingToSpeak } from "./unspoken.ts";

/** What no voice reads out: blanks, what is not seen, and the signs that only part and pause. */
const silent =
  /[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\p{Pd}\p{Pi}\p{Pf}\p{Ps}\p{Pe}.,;:!?'"…¡¿、。，．；：！？・·]/gu;

const isSpeakable = (text: string): boolean => text.replace(silent, "") !== "";

/** A break or a phoneme is heard without a word between the tags. */
const isHeard = (document: string): boolean =>
  /<(?:break|phoneme)\b/.test(document) || isSpeakable(document.replace(/<[^>]*>/g, ""));

/**
 * The pieces of a text that are worth a provider's call.
 * @throws {Invalid} there is none, and nobody else would find one
 */
export const speakablePieces = (pieces: readonly string[], ssml: boolean): readonly string[] => {
  const worth = pieces.filter(ssml ? isHeard : isSpeakable);
  if (worth.length === 0) throw nothingToSpeak();
  return worth;
};
