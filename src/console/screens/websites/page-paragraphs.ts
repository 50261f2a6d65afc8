import { readParagraphs } from "../../../client/page/text/paragraphs.ts";
import type { Rendering } from "../../../client/page/text/rendering.ts";
import { queryAll } from "../../../client/page/text/selectors.ts";
import { maxArticlesOfPage, type TextRules } from "../../../client/page/text/what-is-read.ts";

/** A paragraph that the player would read of a page. */
export interface PageParagraph {
  /** The number of its article on the page, from 1. */
  readonly article: number;
  /** The number of the paragraph on the page, from 1. */
  readonly index: number;
  /** The name of its element. */
  readonly element: string;
  /** The language that the page declares for it. */
  readonly lang: string | undefined;
  readonly text: string;
  /** Unicode code points, as they are charged. */
  readonly characters: number;
}

/**
 * The paragraphs that the player would read of a page, by the player's own code. The parser runs no
 * script of the page and loads nothing. Browsers report the page's inline styles and handlers,
 * because the console's content security policy blocks them too.
 */
export const paragraphsOfPage = (html: string, rules: TextRules): PageParagraph[] => {
  const page = new DOMParser().parseFromString(html, "text/html");
  return queryAll(page, rules.selector)
    .map((article, index) => ({
      article: index + 1,
      paragraphs: readParagraphs(article, rules, unstyledPage),
    }))
    .filter(({ paragraphs }) => paragraphs.length > 0)
    .slice(0, maxArticlesOfPage)
    .flatMap(({ article, paragraphs }) => paragraphs.map((paragraph) => ({ paragraph, article })))
    .map(({ paragraph: { element, text }, article }, index) => ({
      article,
      index: index + 1,
      element: element.localName,
      lang: element.closest("[lang]")?.getAttribute("lang") || undefined,
      text,
      characters: [...text].length,
    }));
};

/** Elements that browsers hide without a style sheet. */
const hidden =
  "dialog:not([open]), [popover], details:not([open]) > :not(summary), datalist, noframes, annotation, annotation-xml";

const hidingStyle = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b/i;

/** Elements that browsers show as blocks without a style sheet. */
const blocks = new Set(
  [
    "html body address article aside blockquote center dd details dialog div dl dt fieldset figcaption",
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol p pre search section",
    "summary ul table caption colgroup col thead tbody tfoot tr td th",
  ].flatMap((names) => names.split(" ")),
);

/** A parsed document has no styles but those in attributes. */
const unstyledPage: Rendering = {
  isShown: (element) => !element.matches(hidden) && !hidingStyle.test(element.getAttribute("style") ?? ""),
  isInline: ({ localName }) => !blocks.has(localName),
};
