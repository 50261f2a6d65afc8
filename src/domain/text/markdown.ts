import { parse, postprocess, preprocess } from "micromark";
import { gfmFootnote } from "micromark-extension-gfm-footnote";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";
import { decodeString } from "micromark-util-decode-string";
import type { Replacement } from "../lexicons/replacements.ts";
import { countCharacters } from "../synthesis/count-characters.ts";
import { escapeXml, withoutForbidden } from "./xml.ts";

/**
 * Of the reading of Markdown; part of the recipes of texts that are read so, and of no other. Raise it with every change of what
 * `readMarkdown` writes, or names would lead to audio of the former reading.
 */
export const markdownVersion = 1;

/** A Markdown text as it is read aloud. */
export interface MarkdownReading {
  /** Plain text without markup, in which empty lines end what is no sentence; or a document of SSML. */
  readonly document: string;
  readonly ssml: boolean;
  /** What its words have instead of characters of the source, in code points. */
  readonly replacements: readonly Replacement[];
}

/**
 * Markdown (CommonMark, with tables, footnotes, strikethrough and task lists of GitHub) without its markup, and `[pause:1.5s]`.
 * Lists, rows of tables and headings end sentences; cells are separated by commas. Blocks of code, addresses of links, references
 * of footnotes and tags of HTML are not read. A voice that takes SSML gets a document if there are pauses; for others they end
 * sentences.
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

/** Characters of the source, and what is read instead of them. Parts follow each other without gaps. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly written: string;
  /** In plain text. Default: `written`. */
  readonly plain?: string;
  /** A pause at this place. */
  readonly pause?: string;
}

const extensions = [gfmTable(), gfmStrikethrough(), gfmFootnote(), gfmTaskListItem()];
/** Texts that are indented, or between tags, are read. */
const disabled = ["codeIndented", "htmlFlow"];
const usual = { extensions: [...extensions, { disable: { null: disabled } }] };
/** The time for emphasis grows with the square of its signs: with so many of them, a text has none. */
const withoutEmphasis = {
  extensions: [...extensions, { disable: { null: [...disabled, "attention", "strikethrough"] } }],
};
const mostSigns = 1_000;

const partsOf = (source: string): readonly Part[] => {
  const writer = partWriter(source);
  // micromark leaves out a byte order mark, and all its offsets would be wrong.
  const readable = source.replace(/^\ufeff/, " ");
  const options = (source.match(/[*_~]/g)?.length ?? 0) > mostSigns ? withoutEmphasis : usual;
  const chunks = preprocess()(readable, undefined, true);
  let skipped: unknown;
  let texts = 0;
  for (const [direction, token] of postprocess(parse(options).document().write(chunks))) {
    const { type } = token;
    const [from, to] = [token.start.offset, token.end.offset];
    if (skipped !== undefined) {
      if (skipped === token && direction === "exit") skipped = undefined;
      continue;
    }
    if (blocks.has(type) || (type === "listItemPrefix" && direction === "enter")) writer.separate("\n\n");
    if (texted.has(type)) texts += direction === "enter" ? 1 : -1;
    if (direction === "exit") continue;
    if (type === "htmlText") writer.separate(separatorOf(source.slice(from, to)));
    if (unread.has(type)) skipped = token;
    else if (type === "data") writer.addData(from, to);
    else if (literal.has(type)) writer.add(from, to, source.slice(from, to));
    else if (type === "characterReference") {
      skipped = token;
      writer.add(from, to, decodeString(source.slice(from, to)));
    } else if (type === "lineEnding" && texts > 0) writer.addLineEnding(from, to);
    else if (type === "listItemValue") writer.addNumber(from, to);
    else if (type === "tableContent") writer.separate(", ");
    else if (type === "hardBreakTrailing" || type === "hardBreakEscape") writer.separate("\n\n");
  }
  return writer.parts();
};

/** They begin and end sentences. */
const blocks: ReadonlySet<string> = new Set([
  ...["atxHeading", "setextHeading", "paragraph", "codeFenced", "thematicBreak"],
  ...["tableRow", "gfmFootnoteDefinition"],
]);
/** A line ending within them is a blank. */
const texted: ReadonlySet<string> = new Set(["paragraph", "setextHeadingText"]);
const literal: ReadonlySet<string> = new Set([
  ...["codeTextData", "characterEscapeValue", "autolinkProtocol", "autolinkEmail"],
]);
const unread: ReadonlySet<string> = new Set([
  ...["resource", "reference", "definition", "gfmFootnoteCall", "gfmFootnoteDefinitionLabel"],
  ...["tableDelimiterRow", "codeFenced", "htmlText", "taskListCheck"],
]);

const separatorOf = (tag: string): string => {
  if (/^<\/?t[dh]\b/i.test(tag)) return ", ";
  return /^<\/?(?:br|p|div|li|h[1-6]|hr|tr|[uo]l|table|blockquote|section|article)\b/i.test(tag)
    ? "\n\n"
    : "";
};

/** Bounded like `<break>`, by the parser of SSML. */
const pauses = /\[pause:\s*(\d{1,3}(?:\.\d{1,3})?|\.\d{1,3})\s*(m?s)\]/giu;

const partWriter = (source: string) => {
  const parts: Part[] = [];
  const found = Array.from(source.matchAll(pauses), ({ 0: sign, 1: number = "", 2: unit = "", index }) => ({
    from: index,
    to: index + sign.length,
    pause: `${number.replace(/^\./, "0.")}${unit.toLowerCase()}`,
  }));
  let next = 0;
  let end = 0;
  /** Before the next text. */
  let separator = "";
  let isAfterNumber = false;
  let paused: string[] = [];

  const separate = (by: string): void => {
    if (!isAfterNumber && (by === "\n\n" || separator === "")) separator = by;
  };
  const addPauses = (): void => {
    for (const pause of paused) parts.push({ from: end, to: end, written: "", pause });
  };
  const add = (from: number, to: number, written: string): void => {
    if (from >= to) return;
    addPauses();
    const isFirst = end === 0;
    const between = paused.length > 0 ? { written: separator || " ", plain: "\n\n" } : { written: separator };
    parts.push({ from: end, to: from, ...(isFirst ? { written: "" } : between) });
    parts.push({ from, to, written: withoutForbidden(written) });
    [separator, paused, isAfterNumber, end] = ["", [], false, to];
  };
  const addText = (from: number, to: number): void => add(from, to, source.slice(from, to));

  return {
    separate,
    add,
    addLineEnding: (from: number, to: number): void => {
      if (separator !== "\n\n") add(from, to, "\n");
    },
    /** Of a list item, without its sign. */
    addNumber: (from: number, to: number): void => {
      add(from, to + 1, `${source.slice(from, to)}.`);
      separate(" ");
      isAfterNumber = true;
    },
    /** Text in which pauses are looked for. Their signs may be in several tokens. */
    addData: (from: number, to: number): void => {
      let at = from;
      for (; at < to && next < found.length; ) {
        const one = found[next];
        if (!one || one.from >= to) break;
        if (one.from >= at) {
          addText(at, one.from);
          paused.push(one.pause);
        }
        at = Math.max(at, Math.min(one.to, to));
        if (one.to > to) return;
        next++;
      }
      addText(at, to);
    },
    parts: (): readonly Part[] => {
      addPauses();
      return [...parts, { from: end, to: source.length, written: "" }];
    },
  };
};
