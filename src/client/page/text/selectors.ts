/** The elements that match, or none for a selector that this browser does not know. */
export const queryAll = (root: ParentNode, selector: string): Element[] =>
  isValid(selector) ? [...root.querySelectorAll(selector)] : [];

/** Keeps the selectors that this browser knows. They can be parts of lists and of rules. */
export const validSelectors = (selectors: readonly string[]): string[] => selectors.filter(isValid);

/**
 * Only the rule refuses an open bracket or string, which would include what follows the selector.
 */
const isValid = (selector: string): boolean => {
  try {
    document.createDocumentFragment().querySelector(selector);
    new CSSStyleSheet().insertRule(`${selector} {}`);
    return true;
  } catch {
    return false;
  }
};
