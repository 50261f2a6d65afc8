import { EngineFailed, Invalid } from "../domain/errors.ts";

/** A letter or a digit that is written to be seen. */
const words = /[\p{L}\p{N}]/u;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * What silence means, after a tool was asked. With words in the text this voice failed and another may say them. A
 * text without any, or a document (whose own markup may be what silences it), has nothing to speak, whoever is asked.
 */
export const unspoken = ({ text, ssml }: { text: string; ssml: boolean }): EngineFailed | Invalid =>
  !ssml && words.test(text.replace(invisible, "")) ? unspokenHere() : nothingToSpeak();

/** The text is beyond this voice; another may say it. */
export const unspokenHere = (): EngineFailed =>
  new EngineFailed("The text has nothing in it that this voice can say.");

/** No voice has anything to say here. */
export const nothingToSpeak = (): Invalid =>
  new Invalid([{ path: ["text"], message: "The text has nothing in it that can be spoken." }]);
