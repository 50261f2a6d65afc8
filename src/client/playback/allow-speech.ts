import type { PageDocument } from "../dom.ts";
import type { LocalizedLabels } from "../labels/labels.ts";

export type AllowSpeechLabel = LocalizedLabels<"allowSpeech">;

/**
 * Asks the user to allow audio, in the page's language. Resolves when the user agrees or the signal
 * is aborted; rejects if the user refuses.
 */
export type AskToSpeak = (signal: AbortSignal, label: AllowSpeechLabel) => Promise<void>;

/** Shows a button at the bottom of the page until it is clicked or the signal is aborted. */
export const allowSpeechButton =
  (document: PageDocument): AskToSpeak =>
  (signal, { lang, dir, labels }) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = labels.allowSpeech;
      Object.assign(button, { lang, dir });
      button.style.cssText =
        "position:fixed;inset:auto 0 1rem;margin:auto;width:max-content;padding:.75em 1.5em;z-index:2147483647";
      const done = () => {
        button.remove();
        resolve();
      };
      button.addEventListener("click", done);
      signal.addEventListener("abort", done, { once: true });
      document.body.append(button);
    });
