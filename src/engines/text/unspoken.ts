import { Invalid, Unpronounceable } from "../../domain/errors.ts";

/** Visible letters and digits. */
const words = /[\p{L}\p{N}]/u;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The error if a tool returned only silence. A text with letters may be pronounced by another voice; a text without
 * any, or an SSML document, which may silence itself, by none.
 */
export const silentSpeechError = ({ text, ssml }: { text: string; ssml: boolean }): Invalid =>
  !ssml && words.test(text.replace(invisible, "")) ? new Unpronounceable() : nothingToSpeak();

/** No voice can speak the text. */
export const nothingToSpeak = (): Invalid =>
  new Invalid([{ path: ["text"], message: "The text contains nothing that can be spoken." }]);
