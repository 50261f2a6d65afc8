import type { WebPlayerFeature } from "../../voxledger.ts";
import { clickableAttribute } from "../highlight.ts";
import { createOwnerOf, type OwnerOf } from "../text/what-is-read.ts";
import type { Reading } from "./reading.ts";

/**
 * Lets clicks on paragraphs read from there, once the article was read: before, a click on a text
 * starts nothing. Returns a function to be called after each change of the reading.
 */
export const readClickedParagraphs = (
  reading: Reading,
  article: Element,
  webPlayer: WebPlayerFeature,
  signal: AbortSignal,
): (() => void) => {
  let isEnabled = !webPlayer.navigation.paragraphClick;
  return () => {
    if (isEnabled || !reading.isActive) return;
    isEnabled = true;
    const ownerOf: OwnerOf = (element) => createOwnerOf(article, webPlayer)(element);
    article.setAttribute(clickableAttribute, "");
    article.addEventListener("click", (event) => startAtClick(event as MouseEvent, reading, ownerOf), {
      signal,
    });
    signal.addEventListener("abort", () => article.removeAttribute(clickableAttribute));
  };
};

/** Elements that handle clicks themselves. */
const interactive =
  "a, button, input, select, textarea, label, summary, audio, video, [contenteditable], [onclick]";

/**
 * A click on a paragraph's text reads from there. A click that selects text, or that the page
 * handles, does not.
 */
const startAtClick = (event: MouseEvent, reading: Reading, ownerOf: OwnerOf): void => {
  const { target, detail, defaultPrevented } = event;
  if (defaultPrevented || detail > 1 || !(target instanceof Element) || target.closest(interactive)) return;
  if (getSelection()?.isCollapsed === false) return;
  const paragraph = ownerOf(target);
  if (paragraph) reading.startAt(paragraph, pointAt(event));
};

/** The clicked character. Safari before version 26.2 knows only the second way. */
const pointAt = ({ clientX, clientY }: MouseEvent): { node: Node; offset: number } | undefined => {
  const caret = document.caretPositionFromPoint?.(clientX, clientY);
  if (caret) return { node: caret.offsetNode, offset: caret.offset };
  const range = document.caretRangeFromPoint?.(clientX, clientY);
  return range ? { node: range.startContainer, offset: range.startOffset } : undefined;
};
