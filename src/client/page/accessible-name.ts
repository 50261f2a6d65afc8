import { plainText } from "./text/plain-text.ts";

/**
 * Returns the name of a link or a control, in the order of precedence of the W3C's accessible name
 * computation.
 */
export const accessibleName = (element: Element): string => {
  const labels = (element as HTMLInputElement).labels ?? [];
  const candidates = [
    labelledBy(element),
    element.getAttribute("aria-label"),
    ...[...labels].map(textOf),
    isValueButton(element) ? element.value : "",
    element.getAttribute("alt"),
    isField(element) ? "" : textWithAlternatives(element),
    element.getAttribute("title"),
    element.getAttribute("placeholder"),
  ];
  return candidates.map((text) => plainText(text ?? "")).find((text) => text !== "") ?? "";
};

const labelledBy = (element: Element): string =>
  (element.getAttribute("aria-labelledby") ?? "")
    .split(/\s+/)
    .map((id) => document.getElementById(id))
    .map((label) => (label ? textOf(label) : ""))
    .join(" ");

const isValueButton = (element: Element): element is HTMLInputElement =>
  element.matches("input[type=submit], input[type=button], input[type=reset]");

/** Elements whose content is never spoken: the visitor entered it, or it is a list of options. */
const fields = "input, textarea, select, datalist, [contenteditable]";

const isField = (element: Element): boolean => element.matches(fields);

/** The text outside of fields. */
const textOf = (element: Element): string => {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, ({ parentElement }) =>
    parentElement?.closest(fields) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  let text = "";
  while (texts.nextNode()) text += (texts.currentNode as Text).data;
  return text;
};

/** The text, and the alternative texts of images in it. */
const textWithAlternatives = (element: Element): string => {
  const images = [...element.querySelectorAll("img[alt]")].map((image) => image.getAttribute("alt"));
  return `${textOf(element)} ${images.join(" ")}`;
};
