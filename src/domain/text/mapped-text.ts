/**
 * A text that was made from another one, the source. It knows which characters of the source each
 * of its characters stands for, also after several steps have rewritten it.
 */
export interface MappedText {
  readonly text: string;
  /** The code points of the source that each UTF-16 unit of `text` stands for. */
  readonly from: readonly number[];
  /**
   * For each UTF-16 unit of `text`, the first code point of the source after those that it stands
   * for.
   */
  readonly to: readonly number[];
  /** The length of the source in code points. */
  readonly length: number;
}

/** Maps a text to itself. */
export const unchanged = (text: string): MappedText => {
  const from: number[] = [];
  let at = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) from.push(at);
    at++;
  }
  return { text, from, to: from.map((place) => place + 1), length: at };
};

/** Returns what is written instead of a match; undefined leaves the match as it is. */
export type Write = (match: RegExpExecArray) => string | undefined;

/** Words that are written instead of a part of a text, whose offsets are UTF-16 units. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly written: string;
}

/**
 * Rewrites all matches of a global pattern. Most patterns match nothing in a text, and `matchAll`
 * makes a copy of the pattern, so a search comes first.
 */
export const rewrite = (source: MappedText, pattern: RegExp, write: Write): MappedText =>
  source.text.search(pattern) < 0 ? source : replace(source, rewritten(source.text.matchAll(pattern), write));

function* rewritten(matches: Iterable<RegExpExecArray>, write: Write): Generator<Replacement> {
  for (const match of matches) {
    const written = write(match);
    if (written !== undefined && written !== match[0])
      yield { start: match.index, end: match.index + match[0].length, written };
  }
}

/**
 * Replaces parts of a text, given in ascending order. The new text stands for the whole part. Only
 * characters that the part and the new text share at the beginning or end keep their places. So a
 * sign that is added to a word does not move the word.
 */
export const replace = (source: MappedText, replacements: Iterable<Replacement>): MappedText => {
  const { text } = source;
  const out = { text: "", from: [] as number[], to: [] as number[], length: source.length };
  let next = 0;
  let isChanged = false;
  const copy = (end: number): void => {
    out.text += text.slice(next, end);
    for (; next < end; next++) {
      out.from.push(source.from[next] ?? 0);
      out.to.push(source.to[next] ?? 0);
    }
  };
  for (const { start, end, written } of replacements) {
    isChanged = true;
    const [before, after] = common(text.slice(start, end), written);
    copy(start + before);
    // Added words stand for the character before them in the part, or else for the next one.
    const first = next < end - after || before === 0 ? next : next - 1;
    const last = Math.max(first, end - after - 1);
    const places = [source.from[first] ?? 0, source.to[last] ?? 0] as const;
    const added = written.slice(before, written.length - after);
    out.text += added;
    for (let unit = 0; unit < added.length; unit++) {
      out.from.push(places[0]);
      out.to.push(places[1]);
    }
    next = end - after;
  }
  if (!isChanged) return source;
  copy(text.length);
  return out;
};

/**
 * Returns the lengths of the common beginning of two texts and, after that, of their common end. A
 * word of the first text is not divided where the second one has a blank: "a@b" and "a at b" have
 * nothing in common.
 */
const common = (a: string, b: string): readonly [before: number, after: number] => {
  const shorter = Math.min(a.length, b.length);
  let before = 0;
  while (before < shorter && a[before] === b[before]) before++;
  if (isBlank(b[before]) && !isBlank(a[before])) while (before > 0 && !isBlank(a[before - 1])) before--;
  let after = 0;
  const [endOfA, endOfB] = [a.length - 1, b.length - 1];
  while (after < shorter - before && a[endOfA - after] === b[endOfB - after]) after++;
  if (isBlank(b[endOfB - after]) && !isBlank(a[endOfA - after]))
    while (after > 0 && !isBlank(a[endOfA - after + 1])) after--;
  return [before, after];
};

const isBlank = (character: string | undefined): boolean => character !== undefined && /\s/.test(character);

/**
 * Puts a blank before each of these UTF-16 offsets, given in ascending order. A blank stands for
 * nothing of the source.
 */
export const insertBlanks = (source: MappedText, offsets: readonly number[]): MappedText => {
  if (offsets.length === 0) return source;
  const out = { text: "", from: [] as number[], to: [] as number[], length: source.length };
  let start = 0;
  for (const end of [...offsets, source.text.length]) {
    out.text += source.text.slice(start, end);
    for (; start < end; start++) {
      out.from.push(source.from[start] ?? 0);
      out.to.push(source.to[start] ?? 0);
    }
    if (end === source.text.length) continue;
    const place = source.from[end] ?? 0;
    out.text += " ";
    out.from.push(place);
    out.to.push(place);
  }
  return out;
};
