import type { WebPlayerFeature } from "../../voxledger.ts";
import { validSelectors } from "./selectors.ts";

export type TextRules = Pick<WebPlayerFeature, "selector" | "paragraphSelector" | "sanitize">;

/** A page of comments may have thousands of articles. */
export const maxArticlesOfPage = 50;

/**
 * The value of `paragraphSelector` in a configuration that does not set it. It is part of the API
 * and cannot change, so the player reads more for it: `usualParagraphs`.
 */
export const unsetParagraphSelector = "p, h2, h3, li";

/** Reads an element that is left out otherwise, or a table. */
const read = "[data-voxledger-read]";

/** Leaves out an element, in every configuration. */
export const skipped = "[data-voxledger-skip]";

const usualParagraphs = [
  ...["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "blockquote", "figcaption", "dt", "dd", "caption"],
  `table${read} tr`,
];

/** Elements whose content is never text that a reader sees. */
const neverText = ["script", "style", "template", "noscript", "voxledger-player"];

/** Elements that are seen, but not part of a text that is read aloud. */
const notText = [
  ...["nav", "button", "input", "select", "textarea", "svg", "canvas", "audio", "video", "iframe", "object"],
  ...["rt", "rp"], // the pronunciation of the text below it
  ...["[hidden]", "[aria-hidden=true]", "[role=navigation]", "[inert]"],
];

const noteLink = "a:is([href*='#fn'], [href*='#footnote'], [href*='#note'], [href*='#cite'])";

/** The classes are those of Markdown's renderers, WordPress, Ghost, Substack and MediaWiki. */
const besidesTheText = {
  footnoteMarks: [
    ...["[role=doc-noteref]", "[role=doc-backlink]", "[data-footnote-ref]", "sup[data-fn]"],
    ...["sup:has(a[href^='#'])", `sup:has(${noteLink})`, `${noteLink}:has(> sup)`],
    ...[".footnote-ref", ".footnote-reference", ".footnote-anchor", "sup.reference", "sup.noprint"],
  ],
  notes: [
    ...["[role=doc-endnotes]", "[role=doc-endnote]", "[role=doc-footnote]", "[data-footnotes]"],
    ...[".footnotes", ".footnote", ".footnote-definition", ".endnotes", ".wp-block-footnotes"],
    ...[".sidenote", ".marginnote", "ol.references", ".reflist"],
  ],
  asides: ["aside", "[role=complementary]"],
  // Complete names of classes: parts of them are also in "ad-free" and "category-advertising".
  advertisements: [
    ...["ins.adsbygoogle", "[data-ad-slot]", "[data-ad-client]", "[data-google-query-id]"],
    ...["[id^=div-gpt-ad]", "[id^=google_ads_]", "[aria-label=advertisement i]"],
    ...[".ad", ".ads", ".advert", ".adverts", ".advertisement", ".advertisements", ".advertising"],
    ...[".ad-slot", ".ad-unit", ".ad-container", ".ad-wrapper", ".ad-banner", ".ad-block", ".ad-placement"],
  ],
  bylines: [".byline"],
  /** Links to a heading and to its editor. */
  headingLinks: [".headerlink", ".header-anchor", ".hash-link", ".mw-editsection"],
  /** Content management systems add these around the text. */
  invitations: [".sharedaddy", ".jp-relatedposts", ".subscription-widget", ".kg-signup-card"],
};

const author = `:is([rel~=author], [itemprop~=author]):not(${read})`;

export type OwnerOf = ReturnType<typeof createOwnerOf>;

/** Returns true for an element that names an author of the article. */
export const createIsAuthor = (article: Element, { sanitize }: TextRules) => {
  const hasAuthors = sanitize.enabled && article.querySelector(author) !== null;
  return (element: Element): boolean => {
    const named = hasAuthors ? element.closest(author) : null;
    return named !== null && named !== article && article.contains(named);
  };
};

const isSet = ({ paragraphSelector }: TextRules): boolean => paragraphSelector !== unsetParagraphSelector;

/** The elements whose text is read, as one selector; undefined if this browser does not know it. */
export const paragraphsIn = (rules: TextRules): string | undefined =>
  isSet(rules) ? validSelectors([rules.paragraphSelector])[0] : validSelectors(usualParagraphs).join();

/** The elements in an article that are left out with all they contain, as one selector. */
export const excludedBy = (rules: TextRules): string => {
  const { enabled, exclude } = rules.sanitize;
  const usual = validSelectors(Object.values(besidesTheText).flat());
  return [
    ...[...neverText, skipped],
    ...(enabled ? [...notText, `:is(${usual}):not(${read})`, ...validSelectors(exclude)] : []),
    // A code block in a list item. Who names the elements to be read may name code.
    ...(enabled && !isSet(rules) ? ["pre"] : []),
  ].join();
};

/**
 * Returns the element to whose text the text in an element belongs: its table row if rows are read,
 * or the innermost element that is read. Undefined if the text is not read.
 */
export const createOwnerOf = (article: Element, rules: TextRules) => {
  const paragraphs = paragraphsIn(rules);
  const readsAllTables = isSet(rules) || !rules.sanitize.enabled;
  const known = new Map<Element, boolean>();
  const isInUnreadTable = (element: Element | null): boolean => {
    const table = element?.closest("table");
    if (!table || table === article || !article.contains(table)) return false;
    const isCaption = element?.closest("caption")?.parentElement === table;
    let isUnread = isCaption ? isInUnreadTable(table.parentElement) : known.get(table);
    isUnread ??= isDataTable(table) || isInUnreadTable(table.parentElement);
    if (!isCaption) known.set(table, isUnread);
    return isUnread;
  };
  return (element: Element): Element | undefined => {
    if (paragraphs === undefined) return undefined;
    const row = element.closest("tr");
    const isRow = row !== null && article.contains(row) && row.matches(paragraphs);
    const owner = isRow ? row : element.closest(paragraphs);
    if (!owner || !article.contains(owner)) return undefined;
    return isRow || readsAllTables || !isInUnreadTable(element) ? owner : undefined;
  };
};

/**
 * The cells of a data table make no sense one by one. Tables that lay out a page have one column,
 * or headings in their cells.
 */
const isDataTable = (table: Element): boolean => {
  if (table.matches("[role=presentation], [role=none]")) return false;
  if (table.querySelector("th, caption, thead")) return true;
  return table.querySelector("td + td") !== null && !table.querySelector("h1, h2, h3, h4, h5, h6, table");
};
