import { decodeString } from "micromark-util-decode-string";
import type { Replacement } from "../lexicons/replacements.ts";
import { countCharacters } from "../synthesis/count-characters.ts";
import { markdown, pause } from "./markdown-parser.ts";
import { escapeXml, withoutForbidden } from "./xml.ts";

/**
 * The version of the reading of Markdown. Only recipes of Markdown texts have it. Raise it when the
 * output of `readMarkdown` changes, or names would lead to audio of the former reading.
 */
export const markdownVersion = 1;

/** A Markdown text as it is read aloud. */
export interface MarkdownReading {
  /**
   * Plain text without markup, where empty lines end headings and items; or an SSML document.
   */
  readonly document: string;
  readonly ssml: boolean;
  /** The words that replace characters of the source, in code points. */
  readonly replacements: readonly Replacement[];
}

/**
 * Reads Markdown (CommonMark, with tables, footnotes, strikethrough and task lists of GitHub), and
 * pauses such as `[pause:1.5s]`. Markup is left out. Lists, rows of tables and headings end
 * sentences; cells are separated by commas. Blocks of code, addresses of links, references of
 * footnotes and tags of HTML are not read. If there are pauses, a voice that takes SSML gets an
 * SSML document; for other voices, pauses end sentences.
 */
export const readMarkdown = (source: string): ((takesSsml: boolean) => MarkdownReading) => {
  const parts = partsOf(source);
  const isPaused = parts.some(({ pause }) => pause !== undefined);
  return (takesSsml) => {
    const ssml = takesSsml && isPaused;
    const written = ssml ? parts : parts.map((part) => ({ ...part, written: part.plain ?? part.written }));
    return { document: documentOf(written, ssml), ssml, replacements: replacementsOf(source, written) };
  };
};

const documentOf = (parts: readonly Part[], ssml: boolean): string => {
  if (!ssml) return parts.map(({ written }) => written).join("");
  const content = parts.map(({ written, pause }) =>
    pause === undefined ? escapeXml(written) : `<break time="${pause}"/>`,
  );
  return `<speak>${content.join("")}</speak>`;
};

const replacementsOf = (source: string, parts: readonly Part[]): Replacement[] => {
  const replacements: Replacement[] = [];
  let at = 0;
  for (const { from, to, written } of parts) {
    const own = source.slice(from, to);
    const start = at;
    at += countCharacters(own);
    if (written !== own) replacements.push({ from: start, to: at, by: { alias: written } });
  }
  return replacements;
};

/**
 * Characters of the source, and the text that is read instead of them. Parts follow each other
 * without gaps.
 */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly written: string;
  /** The form in plain text. Default: `written`. */
  readonly plain?: string;
  /** A pause at this place. */
  readonly pause?: string;
}

type Tree = ReturnType<typeof markdown.parse>;
type SyntaxNode = Tree["topNode"];

const partsOf = (source: string): readonly Part[] => {
  const tree = markdown.parse(asParsed(source));
  const labels = labelsOf(tree, source);
  const writer = partWriter(source);
  /** For each link around the current place, true if its brackets are text. */
  const literal: boolean[] = [];
  /** The end of the text that was written so far; undefined outside of words. */
  let written: number | undefined;
  const writeTo = (to: number): void => {
    if (written === undefined) return;
    writer.addText(written, to);
    written = Math.max(written, to);
  };
  tree.iterate({
    enter: ({ name, from, to, node }) => {
      writeTo(from);
      if (blocks.has(name)) writer.separate("\n\n");
      if (name === "TableCell") writer.separate(", ");
      if (words.has(name)) written = from;
      else if (name === "ListMark" && /^\d/.test(source.slice(from, to))) writer.addNumber(from, to);
      else if (links.has(name)) literal.push(!isLink(node, source, labels));
      else if (written !== undefined && !spans.has(name)) {
        const isText = linkParts.has(name)
          ? literal.at(-1)
          : name === "FootnoteCall" && !labels.has(labelIn(source, from, to));
        if (isText) writer.addText(from, to);
        else addElement(writer, { name, from, to }, source.slice(from, to));
        written = to;
        return false;
      }
      return !unread.has(name);
    },
    leave: ({ name, to }) => {
      writeTo(to);
      if (words.has(name)) written = undefined;
      if (blocks.has(name)) writer.separate("\n\n");
      if (links.has(name)) literal.pop();
    },
  });
  return writer.parts();
};

/** Replaces other line breaks by LF, the only one that the parser knows. Keeps the length. */
const asParsed = (source: string): string =>
  source
    .replaceAll("\r\n", "\n ")
    .replaceAll("\r", "\n")
    .replace(/^\ufeff/, " ");

const headings = [1, 2, 3, 4, 5, 6].map((level) => `ATXHeading${level}`);
/** The nodes that contain words. */
const words: ReadonlySet<string> = new Set([
  ...[...headings, "SetextHeading1", "SetextHeading2", "Paragraph", "Task", "TableCell"],
]);
/** The nodes that begin and end sentences. */
const blocks: ReadonlySet<string> = new Set([
  ...[...words].filter((name) => name !== "TableCell"),
  ...["ListItem", "TableHeader", "TableRow", "FencedCode", "HorizontalRule", "Footnote"],
]);
/** Elements within words that contain words, too. */
const spans: ReadonlySet<string> = new Set(["Emphasis", "StrongEmphasis", "Strikethrough", "InlineCode"]);
const links: ReadonlySet<string> = new Set(["Link", "Image"]);
const linkParts: ReadonlySet<string> = new Set(["LinkMark", "LinkLabel"]);
const unread: ReadonlySet<string> = new Set(["FencedCode", "LinkReference"]);

/**
 * Adds an element that is read as other text, or as a pause between texts. All other elements are
 * markup, which is not read.
 */
const addElement = (writer: PartWriter, { name, from, to }: Element, own: string): void => {
  if (name === "Escape") writer.add(from, to, own.slice(1));
  else if (name === "Entity") writer.add(from, to, decodeString(own));
  else if (name === "Autolink") writer.addText(from + 1, to - 1);
  else if (name === "HardBreak") writer.separate("\n\n");
  else if (name === "HTMLTag") writer.separate(separatorOf(own));
  else if (name === "Pause") writer.addPause(own);
};

type Element = Pick<SyntaxNode, "name" | "from" | "to">;

const separatorOf = (tag: string): string => {
  if (/^<\/?t[dh]\b/i.test(tag)) return ", ";
  return /^<\/?(?:br|p|div|li|h[1-6]|hr|tr|[uo]l|table|blockquote|section|article)\b/i.test(tag)
    ? "\n\n"
    : "";
};

/** The labels that links and footnotes refer to. */
const labelsOf = (tree: Tree, source: string): ReadonlySet<string> => {
  const labels = new Set<string>();
  tree.iterate({
    enter: ({ name, from, to }) => {
      if (name === "FootnoteLabel") labels.add(labelIn(source, from, to - 1));
      else if (name === "LinkLabel") labels.add(labelIn(source, from, to));
      return !words.has(name);
    },
  });
  return labels;
};

/** CommonMark's limit, in UTF-16 code units. */
const longestLabel = 1_000;

/** Returns the beginning of the text between brackets. */
const labelIn = (source: string, from: number, to: number): string =>
  source
    .slice(from + 1, Math.min(to - 1, from + longestLabel))
    .trim()
    .replace(/\s+/g, " ")
    .toUpperCase();

/** The parser takes all brackets for a link, whether its label is defined or not. */
const isLink = (
  { name, from, to, lastChild }: SyntaxNode,
  source: string,
  labels: ReadonlySet<string>,
): boolean => {
  if (source[to - 1] === ")") return true;
  const start = name === "Image" ? from + 1 : from;
  if (lastChild?.name !== "LinkLabel") return labels.has(labelIn(source, start, to));
  return lastChild.to - lastChild.from > 2
    ? labels.has(labelIn(source, lastChild.from, lastChild.to))
    : labels.has(labelIn(source, start, lastChild.from));
};

type PartWriter = ReturnType<typeof partWriter>;

const partWriter = (source: string) => {
  const parts: Part[] = [];
  let end = 0;
  /** The separator that is written before the next text. */
  let separator = "";
  let isAfterNumber = false;
  let paused: string[] = [];

  const separate = (by: string): void => {
    if (!isAfterNumber && separators.indexOf(by) > separators.indexOf(separator)) separator = by;
  };
  const addPauses = (): void => {
    for (const pause of paused) parts.push({ from: end, to: end, written: "", pause });
  };
  const add = (from: number, to: number, written: string): void => {
    addPauses();
    const isFirst = end === 0;
    const between = paused.length > 0 ? { written: separator || " ", plain: "\n\n" } : { written: separator };
    parts.push({ from: end, to: from, ...(isFirst ? { written: "" } : between) });
    parts.push({ from, to, written: withoutForbidden(written) });
    [separator, paused, isAfterNumber, end] = ["", [], false, to];
  };

  return {
    separate,
    add,
    /**
     * Adds text. Blanks at its ends and around its line breaks become one blank or line break, or
     * none between blocks.
     */
    addText: (from: number, to: number): void => {
      for (let at = from; at < to; ) {
        const lineEnd = source.slice(at, to).search(/[\r\n]/);
        const lineTo = lineEnd < 0 ? to : at + lineEnd;
        let [start, end] = [at, lineTo];
        while (start < end && isBlank(source[start])) start++;
        while (start < end && isBlank(source[end - 1])) end--;
        if (start > at) separate(" ");
        if (start < end) add(start, end, source.slice(start, end));
        if (end < lineTo) separate(" ");
        if (lineTo < to) separate("\n");
        at = lineTo + 1;
      }
    },
    /** Adds the number of a list item, without its sign. */
    addNumber: (from: number, to: number): void => {
      add(from, to, `${source.slice(from, to - 1)}.`);
      separate(" ");
      isAfterNumber = true;
    },
    addPause: (sign: string): void => {
      const [, number = "", unit = ""] = pause.exec(sign) ?? [];
      paused.push(`${number.replace(/^\./, "0.")}${unit.toLowerCase()}`);
    },
    parts: (): readonly Part[] => {
      addPauses();
      return [...parts, { from: end, to: source.length, written: "" }];
    },
  };
};

/** Separators, the weakest first. A stronger separator replaces a weaker one. */
const separators = ["", " ", "\n", ", ", "\n\n"];

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";
