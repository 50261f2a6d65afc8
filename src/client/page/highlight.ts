import type { WebPlayerFeature } from "../voxledger.ts";
import type { Paragraph } from "./text/paragraphs.ts";
import { paragraphsIn } from "./text/what-is-read.ts";

export type Highlighter = ReturnType<typeof createHighlighter>;

const attribute = "data-voxledger-speaking";
const highlightName = "voxledger-word";

/** Marks articles whose paragraphs read from there when they are clicked. */
export const clickableAttribute = "data-voxledger-clickable";

/**
 * The page's own colour scheme decides. The paragraph's text keeps its colour, so its background is
 * nearly transparent. Windows' contrast themes remove backgrounds and shadows.
 */
const css = `
@media screen {
  [${attribute}] {
    background-color: color-mix(in srgb, currentColor 8%, transparent);
    border-radius: 2px;
    box-shadow: 0 0 0 4px color-mix(in srgb, currentColor 8%, transparent);
  }
  ::highlight(${highlightName}) {
    background-color: light-dark(#ffe08a, #f5c84c);
    color: #14171a;
  }
}
@media screen and (forced-colors: active) {
  [${attribute}] { background-color: Canvas; outline: 2px solid Highlight; outline-offset: 3px; }
  ::highlight(${highlightName}) { background-color: Highlight; color: HighlightText; }
}`;

/**
 * Highlights the spoken paragraph and word, if the configuration enables that. Every content
 * security policy allows custom highlights, and style sheets that scripts create.
 */
export const createHighlighter = (webPlayer: WebPlayerFeature, signal: AbortSignal) => {
  const { enabled, theme, navigation } = webPlayer;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const softColor = typeof theme === "object" ? theme.accentSoft : undefined;
  if (softColor !== undefined) useColor(sheet.cssRules[0], softColor);
  if (enabled && navigation.paragraphClick) showClickable(sheet, webPlayer);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  let marked: Element | undefined;
  const unmark = (): void => {
    marked?.removeAttribute(attribute);
    marked = undefined;
    CSS.highlights?.delete(highlightName);
  };
  signal.addEventListener("abort", () => {
    unmark();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  });
  const isWanted = (): boolean => navigation.paragraphHighlight && !signal.aborted;
  return {
    /** Marks this paragraph instead of the last one. */
    showParagraph: ({ element }: Paragraph): void => {
      if (element === marked || !isWanted()) return;
      unmark();
      marked = element;
      element.setAttribute(attribute, "");
    },
    showWord: (paragraph: Paragraph, charIndex: number, charLength: number): void => {
      const range = isWanted() && paragraph.rangeOf(charIndex, charLength);
      if (range) CSS.highlights?.set(highlightName, new Highlight(range));
    },
    /** Removes the mark, unless another paragraph is marked by now. */
    clear: ({ element }: Paragraph): void => {
      if (element === marked) unmark();
    },
  };
};

const useColor = (media: CSSRule | undefined, color: string): void => {
  const rule = media instanceof CSSMediaRule ? media.cssRules[0] : undefined;
  if (!(rule instanceof CSSStyleRule)) return;
  rule.style.setProperty("background-color", color);
  rule.style.setProperty("box-shadow", `0 0 0 4px ${color}`);
};

const showClickable = (sheet: CSSStyleSheet, webPlayer: WebPlayerFeature): void => {
  const paragraphs = paragraphsIn(webPlayer);
  if (paragraphs === undefined) return;
  sheet.insertRule(`[${clickableAttribute}] :is(${paragraphs}) { cursor: pointer }`, sheet.cssRules.length);
};
