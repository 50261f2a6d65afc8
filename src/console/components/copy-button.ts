import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "../html.ts";

/** Copies a text to the clipboard, which browsers offer only on HTTPS and localhost. */
export const CopyButton = ({ text, label = "Copy" }: { text: () => string; label?: string }): VNode => {
  const [outcome, setOutcome] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setOutcome("Copied");
    } catch {
      setOutcome("The browser refused");
    }
  };
  return html`<span class="copy">
    <button type="button" class="quiet" onClick=${copy}>${label}</button>
    <span role="status">${outcome}</span>
  </span>`;
};
