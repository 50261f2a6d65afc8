import { Invalid, Unpronounceable } from "../../domain/errors.ts";

/** A letter or a digit that is written to be seen. */
const words = /[\p{L}\p{N}]/u;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * What it means that a tool ended well and gave only silence. With words in the text another voice may pronounce them.
 * A text without any, or a document (whose own markup may silence it), has nothing to speak for any voice.
 */
export const silentSpeechError = ({ text, ssml }: { text: string; ssml: boolean }): Invalid =>
  !ssml && words.test(text.replace(invisible, "")) ? new Unpronounceable() : nothingToSpeak();

/** No voice can pronounce anything of the text. */
export const nothingToSpeak = (): Invalid =>
  new Invalid([{ path: ["text"], message: "The text has nothing in it that can be spoken." }]);
