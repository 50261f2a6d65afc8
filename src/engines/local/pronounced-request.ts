import { NothingToSpeak, Unpronounceable } from "../../domain/errors.ts";
import type { Prosody } from "../../domain/synthesis/speech.ts";
import { pronouncedText } from "../../domain/text/pronounced-text.ts";
import { isSpeakable } from "../../domain/text/speakable.ts";
import { spokenText } from "../../domain/text/spoken-text.ts";
import type { SpeechEvent } from "../../subprocess/espeak.ts";
import type { SpeechRequest } from "../engine.ts";

/** The tools with front ends of this project, hibari and Kokoro, have this in common. */

/**
 * The words of a request, the pronunciations that its document gives, and a function that places
 * events in the document.
 */
export const pronouncedRequest = ({ text, ssml }: SpeechRequest) => {
  type Events = readonly SpeechEvent[];
  if (!ssml) return { text, pronounced: undefined, placed: (events: Events): Events => events };
  const { starts } = spokenText(text, true);
  const placed = (events: Events): Events =>
    events.map((event) => ({ ...event, position: starts[event.position] ?? event.position }));
  return { ...pronouncedText(text), placed };
};

/** Ranges from 2/3 to 5/3 of the voice's own pitch, as flite does. */
export const pitchFactor = ({ pitch }: Prosody): number =>
  pitch < 1 ? (2 + pitch) / 3 : 1 + (2 / 3) * (pitch - 1);

/**
 * `speakable`: the characters that the front end speaks.
 * @throws {Unpronounceable} if another voice may read the signs
 * @throws {NothingToSpeak}
 */
export const requireReadable = (text: string, speakable: RegExp): void => {
  if (speakable.test(text)) return;
  throw isSpeakable(text) ? new Unpronounceable(text.match(/\S/gu) ?? []) : new NothingToSpeak();
};

/** Signs that the front end of English names, besides letters and digits. */
export const speakableInEnglish = /[\p{L}\p{N}%&+@/=#<>~^°$£€¥¢§×÷±−→©]/u;

/**
 * Finds characters that the front end of English would skip. It reads Latin letters and ASCII's
 * digits, and the preparation names all but new emoji.
 */
export const unreadInEnglish = (text: string): readonly string[] =>
  text.normalize("NFKC").match(unread) ?? [];

const unread = /[[\p{L}\p{N}\p{Emoji_Presentation}]--[\p{Script=Latin}\p{ASCII}]]/gv;
