import {
  type InlineParser,
  type MarkdownConfig,
  parser,
  Strikethrough,
  Table,
  TaskList,
} from "@lezer/markdown";

/*
 * Unlike other parsers of Markdown, this one takes linear time for nearly all texts, even those
 * with nested or unfinished signs, and knows the exact places of all elements.
 */

/** `[pause:1.5s]`. Its duration is bounded like that of `<break>`, by the parser of SSML. */
export const pause = /^\[pause:\s{0,9}(\d{1,3}(?:\.\d{1,3})?|\.\d{1,3})\s?(m?s)\]/iu;
const footnoteCall = /^\[\^[^\s[\]]{1,200}\]/u;
const footnoteLabel = /^\[\^[^\s[\]]{1,200}\]:/u;
/** Lengths in UTF-16 code units. */
const longest = { pause: 40, footnote: 204 };

const openingBracket = 0x5b;

/**
 * Reads the match of a pattern at a bracket, before the bracket is taken for the beginning of a
 * link.
 */
const bracketed = (name: string, pattern: RegExp, length: number): InlineParser => ({
  name,
  before: "Link",
  parse: (line, next, at) => {
    if (next !== openingBracket) return -1;
    const [found = ""] = pattern.exec(line.slice(at, Math.min(line.end, at + length))) ?? [];
    return found === "" ? -1 : line.addElement(line.elt(name, at, at + found.length));
  },
});

const footnotesAndPauses: MarkdownConfig = {
  defineNodes: [
    ...["Pause", "FootnoteCall", "FootnoteLabel"],
    { name: "Footnote", block: true, composite: () => false },
  ],
  parseInline: [
    bracketed("Pause", pause, longest.pause),
    bracketed("FootnoteCall", footnoteCall, longest.footnote),
  ],
  parseBlock: [
    {
      name: "Footnote",
      before: "LinkReference",
      parse: (block, line) => {
        const { length } = footnoteAt(line);
        if (length === 0) return false;
        const from = block.lineStart + line.pos;
        block.startComposite("Footnote", line.pos);
        block.addElement(block.elt("FootnoteLabel", from, from + length));
        line.moveBase(line.pos + length);
        return null;
      },
      endLeaf: (_, line) => footnoteAt(line) !== "",
    },
  ],
};

const footnoteAt = ({ text, pos }: { readonly text: string; readonly pos: number }): string =>
  footnoteLabel.exec(text.slice(pos, pos + longest.footnote))?.[0] ?? "";

/** Indented texts are not code, and texts between HTML tags are not skipped: both are read. */
export const markdown = parser.configure([
  ...[Table, TaskList, Strikethrough, footnotesAndPauses],
  { remove: ["IndentedCode", "HTMLBlock"] },
]);
