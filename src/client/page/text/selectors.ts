/** The elements that match, or none for a selector that this browser does not know. */
export const queryAll = (root: ParentNode, selector: string): Element[] =>
  isValid(selector) ? [...root.querySelectorAll(selector)] : [];

/** Keeps the selectors that this browser knows. They can be joined into a list or a CSS rule. */
export const validSelectors = (selectors: readonly string[]): string[] => selectors.filter(isValid);

/**
 * `querySelector` accepts a bracket or string that is not closed. In a list or rule, it would
 * include what follows the selector. Only `insertRule` refuses it.
 */
const isValid = (selector: string): boolean => {
  const known = checked.get(selector) ?? check(selector);
  checked.set(selector, known);
  return known;
};

/** Pages are read again after each change, with the same selectors. */
const checked = new Map<string, boolean>();

const check = (selector: string): boolean => {
  try {
    document.createDocumentFragment().querySelector(selector);
    new CSSStyleSheet().insertRule(`${selector} {}`);
    return true;
  } catch {
    return false;
  }
};
