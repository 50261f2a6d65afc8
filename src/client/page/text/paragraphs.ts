import { invisible, isSpeakable, notSsml, type TextPiece } from "./plain-text.ts";
import { type Rendering, shownPage } from "./rendering.ts";
import { validSelectors } from "./selectors.ts";
import { TableRows } from "./table-rows.ts";
import { createIsAuthor, createOwnerOf, excludedBy, skipped, type TextRules } from "./what-is-read.ts";

/**
 * The paragraphs of an article, in their order. Text belongs to the innermost element that is read,
 * so that a paragraph in a list item is spoken once, and to the innermost article. Other text is
 * not spoken.
 */
export const readParagraphs = (
  article: Element,
  rules: TextRules,
  rendering: Rendering = shownPage,
): Paragraph[] => {
  const [articles = ":scope"] = validSelectors([rules.selector]);
  const ownerOf = createOwnerOf(article, rules);
  const isAuthor = createIsAuthor(article, rules);
  if (article.closest(skipped)) return [];
  const rows = new TableRows();
  const found: Paragraph[] = [];
  for (const node of textNodesIn(article, rules, rendering)) {
    if (node instanceof Element) {
      found.at(-1)?.breakWord();
      continue;
    }
    const parent = node.parentElement;
    const owner = parent && ownerOf(parent);
    if (!owner) continue;
    const innermost = articles === ":scope" ? article : parent.closest(articles);
    if (innermost !== article && innermost !== null && article.contains(innermost)) continue;
    const piece = { node, block: blockOf(parent, rendering), isAuthor: isAuthor(parent) };
    const pieces = owner.localName === "tr" ? rows.read(owner, piece) : [piece];
    if (pieces.length === 0) continue;
    let last = found.at(-1);
    if (last?.element !== owner) {
      last = new Paragraph(owner);
      found.push(last);
    }
    for (const each of pieces) last.append(each);
  }
  return found.filter(({ text, isByline }) => isSpeakable(text) && !isByline);
};

/** The text nodes that are shown and not left out, and the line breaks between them. */
function* textNodesIn(
  article: Element,
  rules: TextRules,
  { isShown }: Rendering,
): Generator<Text | HTMLBRElement> {
  const excluded = excludedBy(rules);
  const isExcluded = (element: Element): boolean =>
    element.matches(excluded) || (rules.sanitize.enabled && !isShown(element));
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node instanceof Element && isExcluded(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node instanceof Text || node instanceof HTMLBRElement) yield node;
  }
}

/** The element whose box begins a new line. */
export const blockOf = (element: Element, { isInline }: Rendering = shownPage): Element => {
  let block = element;
  while (block.parentElement && isInline(block)) block = block.parentElement;
  return block;
};

/** Characters of the text that are together in one node of the page. */
export interface Run {
  readonly charIndex: number;
  readonly length: number;
  readonly node: Text;
  readonly offset: number;
}

const tokens = new RegExp(`(\\s+)|[${invisible}]+|[^\\s${invisible}]+`, "g");
const isInvisible = new RegExp(`^[${invisible}]`);

/** A byline has words such as "By" and a date besides the authors' names, and is no sentence. */
const maxBylineLength = 60;
const sentenceEnd = /[\p{Sentence_Terminal}…][\p{Pe}\p{Pf}"']*$/u;

/** A paragraph as it is spoken. */
export class Paragraph {
  readonly element: Element;
  #text = "";
  readonly #runs: Run[] = [];
  #isWordBroken = false;
  #block: Element | undefined;
  /** The length of the authors' names in the text. */
  #authors = 0;

  constructor(element: Element) {
    this.element = element;
  }

  /** The text in one line, without invisible characters. */
  get text(): string {
    return notSsml(this.#text);
  }

  get runs(): readonly Run[] {
    return this.#runs;
  }

  /** True if it says little more than who the author is. */
  get isByline(): boolean {
    const isShort = this.#text.length - this.#authors <= maxBylineLength;
    return this.#authors > 0 && isShort && !sentenceEnd.test(this.#text);
  }

  /** Call it where the next word does not continue the last one. */
  breakWord(): void {
    this.#isWordBroken = true;
  }

  /** Adds a text of the page, or a punctuation mark that separates two. */
  append(piece: TextPiece | string): void {
    if (typeof piece === "string") {
      if (/[^\p{P}]$/u.test(this.#text)) this.#text += piece;
      this.breakWord();
      return;
    }
    const { node, block, isAuthor } = piece;
    const before = this.#text.length;
    if (block !== this.#block) this.breakWord();
    this.#block = block;
    for (const { 0: token, 1: space, index } of node.data.matchAll(tokens)) {
      if (space !== undefined) this.breakWord();
      else if (!isInvisible.test(token)) this.#appendWord({ node, offset: index, length: token.length });
    }
    if (isAuthor) this.#authors += this.#text.length - before;
  }

  /** The range of this part of the text on the page. */
  rangeOf(charIndex: number, charLength: number): Range | undefined {
    const end = charIndex + charLength;
    const runs = this.#runs.filter((run) => run.charIndex < end && run.charIndex + run.length > charIndex);
    const [first, last] = [runs[0], runs.at(-1)];
    if (!first?.node.isConnected || !last?.node.isConnected) return undefined;
    const range = document.createRange();
    try {
      range.setStart(first.node, first.offset + Math.max(charIndex - first.charIndex, 0));
      range.setEnd(last.node, last.offset + Math.min(end - last.charIndex, last.length));
      return range;
    } catch {
      return undefined; // the page has changed the text
    }
  }

  /** The place in the text of a point of the page. */
  charIndexAt(node: Node, offset: number): number | undefined {
    const runs = this.#runs.filter((run) => run.node === node);
    const run = runs.findLast((one) => one.offset <= offset) ?? runs[0];
    return run && run.charIndex + Math.min(Math.max(offset - run.offset, 0), run.length);
  }

  #appendWord({ node, offset, length }: Omit<Run, "charIndex">): void {
    if (this.#isWordBroken && this.#text !== "") this.#text += " ";
    this.#isWordBroken = false;
    this.#runs.push({ charIndex: this.#text.length, length, node, offset });
    this.#text += node.data.slice(offset, offset + length);
  }
}
