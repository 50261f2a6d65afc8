/** How elements look: what a document alone does not tell. */
export interface Rendering {
  /** False for an element that is hidden with all it contains. */
  readonly isShown: (element: Element) => boolean;
  /** True if its box begins no new line. */
  readonly isInline: (element: Element) => boolean;
}

/** The page that the browser shows. */
export const shownPage: Rendering = {
  isShown: (element) => element.checkVisibility({ visibilityProperty: true }),
  isInline: (element) => /^(inline|contents|ruby)/.test(getComputedStyle(element).display),
};
