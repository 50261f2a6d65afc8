import type { PageDocument } from "../dom.ts";

/** Asks the user whether the page may sound; resolves with their click, or when the signal is raised. */
export type AskToSpeak = (signal: AbortSignal) => Promise<void>;

/** A button at the foot of the page, there until it is pressed. */
export const allowSpeechButton =
  (document: PageDocument): AskToSpeak =>
  (signal) =>
    new Promise((resolve) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Allow speech";
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
