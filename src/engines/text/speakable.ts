import { nothingToSpeak } from "./unspoken.ts";

/** Characters that no voice reads aloud: blanks, invisible characters, and punctuation. */
const silent =
  /[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\p{Pd}\p{Pi}\p{Pf}\p{Ps}\p{Pe}.,;:!?'"…¡¿、。，．；：！？・·]/gu;

const isSpeakable = (text: string): boolean => text.replace(silent, "") !== "";

/** A break or a phoneme is audible without text. */
const isHeard = (document: string): boolean =>
  /<(?:break|phoneme)\b/.test(document) || isSpeakable(document.replace(/<[^>]*>/g, ""));

/** The pieces that contain something to speak. @throws {Invalid} there are none */
export const speakablePieces = (pieces: readonly string[], ssml: boolean): readonly string[] => {
  const worth = pieces.filter(ssml ? isHeard : isSpeakable);
  if (worth.length === 0) throw nothingToSpeak();
  return worth;
};
