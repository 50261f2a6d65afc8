import type { Feature } from "./feature.ts";
import { plainText } from "./text/plain-text.ts";

/** A longer selection is cut. */
const maxLength = 20_000;

const selectedText = (): string => plainText(String(getSelection() ?? "")).slice(0, maxLength);

/**
 * Speaks the text that the visitor selects with the pointer or the keyboard. A click elsewhere ends
 * the speech.
 */
export const speakSelection: Feature = ({ speaker, signal }) => {
  let spoken = "";
  let speech: Promise<unknown> | undefined;
  const speak = (text: string): void => {
    const own = speaker
      .speak(text)
      .catch(() => {}) // OnError has reported it
      .finally(() => {
        if (speech === own) speech = undefined;
      });
    speech = own;
  };
  const onSelected = (): void => {
    const text = selectedText();
    if (text === spoken) return;
    spoken = text;
    if (text !== "") speak(text);
    else if (speech) speaker.stop(); // otherwise the same click has started another speech
  };
  // A click on a selection removes it after `pointerup`.
  const afterRelease = (): void => void setTimeout(onSelected);
  document.addEventListener("pointerup", afterRelease, { signal });
  const onKeyUp = ({ key }: KeyboardEvent): void => {
    if (key === "Shift" || key === "Control" || key === "Meta") onSelected(); // the selection is complete
  };
  document.addEventListener("keyup", onKeyUp, { signal });
};
