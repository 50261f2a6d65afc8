import type { WebPlayerFeature } from "../../voxledger.ts";
import { queryAll } from "../text/selectors.ts";

/**
 * Inserts the player: before or after the article, or `inline`, before its first paragraph. A
 * target is searched in the article first, then in the page. Without one, the player is before the
 * article.
 */
export const insertPlayer = (
  host: HTMLElement,
  article: Element,
  firstParagraph: Element,
  position: WebPlayerFeature["position"],
): void => {
  if (typeof position === "string") {
    if (position === "after") article.after(host);
    else if (position === "inline") inlinePlace(article, firstParagraph).before(host);
    else article.before(host);
    return;
  }
  const { target: selector, at } = position;
  const target = queryAll(article, selector)[0] ?? queryAll(document, selector)[0];
  if (!target) article.before(host);
  else if (at === "inside") target.append(host);
  else target[at](host);
};

/** Lists and tables allow no player between their items. */
const inlinePlace = (article: Element, paragraph: Element): Element => {
  let place = paragraph;
  while (place !== article && place.matches("li, dt, dd, tr, td, th, tbody, thead") && place.parentElement) {
    place = place.parentElement;
  }
  return place;
};
