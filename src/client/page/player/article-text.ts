import type { Paragraph } from "../text/paragraphs.ts";

/** The library's offsets are those of a text that joins its sections by this. */
const separator = "\n\n";

/** The text of an article, and the place of each paragraph in it. */
export class ArticleText {
  readonly paragraphs: readonly Paragraph[];
  readonly length: number;
  readonly #offsets: readonly number[];

  constructor(paragraphs: readonly Paragraph[]) {
    let length = 0;
    this.paragraphs = paragraphs;
    this.#offsets = paragraphs.map(({ text }) => {
      const offset = length;
      length += text.length + separator.length;
      return offset;
    });
    this.length = length;
  }

  /** The beginning of a paragraph. */
  offsetOf(paragraph: number): number {
    return this.#offsets[paragraph] ?? 0;
  }

  /** The index of the paragraph at this place. */
  paragraphAt(charIndex: number): number {
    return Math.max(
      this.#offsets.findLastIndex((offset) => offset <= charIndex),
      0,
    );
  }

  /** The beginning of the word at this place, or of the word that ends there. */
  wordAt(charIndex: number): number {
    const index = this.paragraphAt(charIndex);
    const text = this.paragraphs[index]?.text ?? "";
    const offset = this.offsetOf(index);
    const words = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
    const at = words.containing(Math.min(Math.floor(charIndex) - offset, text.length - 1));
    const before = at && !at.isWordLike ? words.containing(at.index - 1) : undefined;
    return offset + ((before?.isWordLike ? before : at)?.index ?? 0);
  }
}
