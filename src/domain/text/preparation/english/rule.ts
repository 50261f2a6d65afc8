/**
 * American English writes the month first and says "one hundred five"; all other dialects are
 * British in this respect.
 */
export type Dialect = "american" | "british";

/** A global pattern, or a function that compiles it. */
type Pattern = RegExp | (() => RegExp);

/**
 * A pattern, and a function that returns the words for a match; undefined leaves the match
 * unchanged.
 */
export type Rule = readonly [
  pattern: Pattern,
  say: (match: RegExpExecArray, dialect: Dialect) => string | undefined,
];

/**
 * Builds a global pattern from its parts. It is compiled when it is first used: to compile all
 * patterns takes 30 ms, and most texts need few of them.
 */
export const pattern = (...parts: readonly string[]): (() => RegExp) => {
  let built: RegExp | undefined;
  return () => {
    built ??= new RegExp(parts.join(""), "gu");
    return built;
  };
};

export const compiled = (written: Pattern): RegExp => (written instanceof RegExp ? written : written());

/** Alternatives that bars or blanks separate. */
export const anyOf = (words: string): string =>
  `(?:${words
    .trim()
    .split(/[\s|]+/)
    .join("|")})`;

/** Matches where neither a number nor a word continues. */
export const start = String.raw`(?<![\p{L}\p{N}_.,]|\d[-–—/:])`;
export const end = String.raw`(?![\p{L}\p{N}_]|[.,:/]\d)`;

/** The sign of a number, if there is one: not the hyphen of a word, nor the dash of a range. */
export const signBefore = String.raw`(?:(?<![\p{L}\p{N}_)\].,%°'"”’][-−–]?)([-−]))?`;
