import type { WebPlayerFeature } from "../../voxledger.ts";
import { invisible, isSpeakable, notSsml } from "./plain-text.ts";
import { validSelectors } from "./selectors.ts";

type TextRules = Pick<WebPlayerFeature, "selector" | "paragraphSelector" | "sanitize">;

/** Elements whose content is never text that a reader sees. */
const neverText = ["script", "style", "template", "noscript", "voxledger-player"];

/** Elements that are seen, but not part of a text that is read aloud. */
const notSpoken = [
  ...["nav", "button", "input", "select", "textarea", "svg", "canvas", "audio", "video", "iframe", "object"],
  ...["[hidden]", "[aria-hidden=true]", "[role=navigation]", "[inert]"],
];

/**
 * The paragraphs of an article, in their order. Text belongs to the innermost element that
 * `paragraphSelector` matches, so that a paragraph in a list item is spoken once, and to the
 * innermost article. Other text is not spoken.
 */
export const readParagraphs = (article: Element, { selector, paragraphSelector, sanitize }: TextRules) => {
  const [paragraphs] = validSelectors([paragraphSelector]);
  const [articles = ":scope"] = validSelectors([selector]);
  if (paragraphs === undefined) return [];
  const excluded = validSelectors([
    ...neverText,
    ...(sanitize.enabled ? [...notSpoken, ...sanitize.exclude] : []),
  ]).join();
  const isExcluded = (element: Element): boolean =>
    element.matches(excluded) || (sanitize.enabled && !element.checkVisibility({ visibilityProperty: true }));
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node instanceof Element && isExcluded(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const found: Paragraph[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node instanceof Element) {
      if (node.localName === "br") found.at(-1)?.breakWord();
      continue;
    }
    const parent = node.parentElement;
    const owner = parent?.closest(paragraphs);
    if (!parent || !owner || !article.contains(owner)) continue;
    const innermost = articles === ":scope" ? article : parent.closest(articles);
    if (innermost !== article && innermost !== null && article.contains(innermost)) continue;
    let last = found.at(-1);
    if (last?.element !== owner) {
      last = new Paragraph(owner);
      found.push(last);
    }
    last.append(node as Text, blockOf(parent));
  }
  return found.filter(({ text }) => isSpeakable(text));
};

/** The element whose box begins a new line. */
export const blockOf = (element: Element): Element => {
  let block = element;
  while (block.parentElement && /^(inline|contents|ruby)/.test(getComputedStyle(block).display)) {
    block = block.parentElement;
  }
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

/** A paragraph as it is spoken. */
export class Paragraph {
  readonly element: Element;
  #text = "";
  readonly #runs: Run[] = [];
  #isWordBroken = false;
  #block: Element | undefined;

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

  /** Call it where the next word does not continue the last one. */
  breakWord(): void {
    this.#isWordBroken = true;
  }

  append(node: Text, block: Element): void {
    if (block !== this.#block) this.breakWord();
    this.#block = block;
    for (const { 0: token, 1: space, index } of node.data.matchAll(tokens)) {
      if (space !== undefined) this.breakWord();
      else if (!isInvisible.test(token)) this.#appendWord({ node, offset: index, length: token.length });
    }
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
