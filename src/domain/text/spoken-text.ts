import type { Replacement } from "../lexicons/replacements.ts";

/** The characters of a text that are spoken, and where they are written. */
export interface SpokenText {
  /** Code points. */
  readonly characters: readonly string[];
  /**
   * The place of each character in the source, in code points. `ends` is exclusive.
   */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Indices of characters before which an element ends a word. */
  readonly breaks: ReadonlySet<number>;
  /** The `<mark>` elements, in order. */
  readonly marks?: readonly SpokenMark[];
  /** Present if some characters are spoken instead of written ones. */
  readonly replaced?: {
    /**
     * The indices of the written characters that each spoken one stands for. `to` is exclusive.
     */
    readonly from: readonly number[];
    readonly to: readonly number[];
  };
}

/** A `<mark>`. */
interface SpokenMark {
  /** The index of the next character. */
  readonly at: number;
  /** The place of its tag in the source. */
  readonly start: number;
  readonly end: number;
}

/** Moves the marks: `move` returns the new index of a character. */
export const moveMarks = ({ marks }: SpokenText, move: (at: number) => number): Pick<SpokenText, "marks"> =>
  marks ? { marks: marks.map((mark) => ({ ...mark, at: move(mark.at) })) } : {};

/**
 * The text as it is spoken when aliases replace characters of it. Phonemes replace no characters:
 * they say how the written characters are pronounced.
 */
export const withReplacements = (text: SpokenText, replacements: readonly Replacement[]): SpokenText => {
  const { characters: written, starts, ends, breaks, replaced } = text;
  const spoken = { characters: [] as string[], from: [] as number[], to: [] as number[] };
  /** The place where each written character begins to be spoken. */
  const spokenAt: number[] = [];
  const add = (character: string, from: number, to: number): void => {
    spokenAt[from] ??= spoken.characters.length;
    spoken.characters.push(character);
    spoken.from.push(from);
    spoken.to.push(to);
  };
  let next = 0;
  const addUnchanged = (end: number): void => {
    for (; next < end; next++) add(written[next] ?? "", next, next + 1);
  };
  for (const { from, to, by } of replacements) {
    addUnchanged(from);
    const characters = "alias" in by ? Array.from(by.alias) : written.slice(from, to);
    for (const character of characters) add(character, from, to);
    next = to;
  }
  addUnchanged(written.length);
  const moved = (at: number): number => spokenAt[at] ?? spoken.characters.length;
  return {
    characters: spoken.characters,
    starts: spoken.from.map((from) => starts[from] ?? 0),
    ends: spoken.to.map((to) => ends[to - 1] ?? 0),
    // No replacement extends beyond an element.
    breaks: new Set(Array.from(breaks, moved)),
    ...moveMarks(text, moved),
    replaced: {
      from: spoken.from.map((from) => replaced?.from[from] ?? from),
      to: spoken.to.map((to) => replaced?.to[to - 1] ?? to),
    },
  };
};

/** A text for an engine, and how it follows from the text as sent. */
export interface WrittenText {
  /**
   * Plain text, or a whole well-formed `<speak>` document that has passed `parseSsml`. Never empty.
   */
  readonly text: string;
  readonly ssml: boolean;
  /** The text as sent, in NFC, to which marks refer. Default: `text`. */
  readonly original?: string;
  /** The replacements of characters of `original`, if that is Markdown. */
  readonly reading?: readonly Replacement[] | undefined;
  /**
   * The replacements that `text` has for spoken characters of `original`, or of its reading.
   * Default: none.
   */
  readonly replacements?: readonly Replacement[] | undefined;
}

/** Computes what an engine speaks of a request's original text. */
export const spokenOf = ({ text, original = text, reading, replacements, ssml }: WrittenText): SpokenText => {
  const written = reading
    ? withReplacements(spokenText(original, false), reading)
    : spokenText(original, ssml);
  return replacements ? withReplacements(written, replacements) : written;
};

/**
 * Returns all characters of a plain text, or those of a well-formed SSML document without its
 * markup.
 */
export const spokenText = (text: string, ssml: boolean): SpokenText =>
  ssml ? spokenOfDocument(text) : spokenOfPlain(text);

const spokenOfPlain = (text: string): SpokenText => {
  const characters = Array.from(text);
  return {
    characters,
    starts: characters.map((_, at) => at),
    ends: characters.map((_, at) => at + 1),
    breaks: new Set(),
  };
};

/**
 * Matches a comment, a processing instruction, CDATA, a tag, a reference, or else one character.
 * XML reads CR LF as one line feed.
 */
const tokens =
  /<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(?<cdata>.*?)\]\]>|<(?<closes>\/)?(?<name>[^\s/>]+)(?<attributes>(?:[^"'>]|"[^"]*"|'[^']*')*)>|&(?<reference>[^;\s]+);|\r\n?|./gsu;

const spokenOfDocument = (document: string): SpokenText => {
  const characters: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const breaks = new Set<number>();
  const marks: SpokenMark[] = [];
  const path: { readonly isReplaced: boolean; readonly firstOfAlias: number }[] = [];
  let replaced = 0;
  let at = 0;

  const add = (character: string, start: number, end: number): void => {
    characters.push(character);
    starts.push(start);
    ends.push(end);
  };
  const open = (name: string, attributes: string, end: number): void => {
    const alias = name === "sub" && replaced === 0 ? aliasOf(attributes) : undefined;
    path.push({ isReplaced: alias !== undefined, firstOfAlias: characters.length });
    if (alias === undefined) return;
    for (const character of alias) add(character, end, end);
    replaced++;
  };
  /** The place of an alias is the content that it replaces. */
  const close = (start: number): void => {
    const element = path.pop();
    if (!element?.isReplaced) return;
    replaced--;
    ends.fill(start, element.firstOfAlias);
  };

  for (const { 0: token, groups = {} } of document.matchAll(tokens)) {
    const [start, end] = [at, at + Array.from(token).length];
    at = end;
    const { name, attributes = "", closes, cdata, reference } = groups;
    if (name !== undefined) {
      if (endsWord.has(name)) breaks.add(characters.length);
      if (isMark.test(name) && !closes && replaced === 0) marks.push({ at: characters.length, start, end });
      if (!closes) open(name, attributes, end);
      if (closes || attributes.endsWith("/")) close(start);
    } else if (path.length === 0 || replaced > 0 || /^<[!?](?!\[)/.test(token)) {
      // Nothing of it is spoken.
    } else if (cdata !== undefined) {
      let place = start + "<![CDATA[".length;
      for (const character of cdata) add(character, place, ++place);
    } else if (reference !== undefined) add(characterOf(reference), start, end);
    else add(token[0] === "\r" ? "\n" : token, start, end);
  }
  return { characters, starts, ends, breaks, ...(marks.length > 0 && { marks }) };
};

/** Azure calls the element `<bookmark>`. */
const isMark = /^(?:book)?mark$/;
const endsWord: ReadonlySet<string> = new Set(["p", "s", "break"]);

const aliasOf = (attributes: string): string | undefined => {
  const [, double, single] = /\salias\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(attributes) ?? [];
  return (double ?? single)?.replace(/&([^;\s]+);/g, (_, reference: string) => characterOf(reference));
};

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const characterOf = (reference: string): string => {
  const [, hexadecimal, decimal] = /^#(?:x([0-9a-f]+)|(\d+))$/i.exec(reference) ?? [];
  if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
  return decimal === undefined ? (named[reference] ?? "?") : String.fromCodePoint(Number(decimal));
};
