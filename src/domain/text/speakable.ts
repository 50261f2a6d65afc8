import { type Invalid, NothingToSpeak, Unpronounceable } from "../errors.ts";

/** Characters that no voice reads aloud: blanks, invisible characters, and punctuation. */
const silent =
  /[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\p{Pd}\p{Pi}\p{Pf}\p{Ps}\p{Pe}.,;:!?'"…¡¿、。，．；：！？・·]/gu;

/** True if a voice reads any of it aloud. */
export const isSpeakable = (text: string): boolean => text.replace(silent, "") !== "";

/** A break or a phoneme is audible without text. */
const isAudible = (document: string): boolean =>
  /<(?:break|phoneme)\b/.test(document) || isSpeakable(document.replace(/<[^>]*>/g, ""));

/**
 * The pieces that contain something to speak.
 * @throws {Invalid} if there are none
 */
export const speakablePieces = (pieces: readonly string[], ssml: boolean): readonly string[] => {
  const worth = pieces.filter(ssml ? isAudible : isSpeakable);
  if (worth.length === 0) throw new NothingToSpeak();
  return worth;
};

/** Visible letters and digits. */
const words = /[\p{L}\p{N}]/gu;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The error if a tool returned only silence. Another voice may pronounce a text with letters. No
 * voice can pronounce a text without letters, nor an SSML document that mutes itself.
 */
export const noAudioError = ({ text, ssml }: { text: string; ssml: boolean }): Invalid => {
  const letters = ssml ? [] : text.replace(invisible, "").match(words);
  return letters && letters.length > 0 ? new Unpronounceable(letters) : new NothingToSpeak();
};
