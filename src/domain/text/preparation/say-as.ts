import { Invalid } from "../../errors.ts";
import { type MappedText, rewrite, unchanged } from "../mapped-text.ts";
import type { SayAs } from "../ssml-speaker.ts";
import { ordinal } from "./ordinals.ts";
import { type Reader, readsMarkup } from "./reader.ts";
import { dateOf, durationOf, fractionOf, moneyOf, unitOf } from "./said-quantities.ts";

/**
 * Writes the words of a `<say-as>` as people would write them in a text, to which the steps of the
 * preparation then apply.
 * @throws {Invalid} for `text`, if the words are not of that kind, or cannot be read so in the
 * language
 */
export const sayAs = (words: string, as: SayAs, reader: Reader): MappedText => {
  const read = Object.hasOwn(readings, as.interpretAs) ? readings[as.interpretAs] : undefined;
  return read ? read(unchanged(words), { ...as, ...reader }) : unchanged(words);
};

/**
 * True if the words are read character by character, so that the steps of the preparation must not
 * change them.
 */
export const isSpelled = ({ interpretAs }: SayAs): boolean => spelled.has(interpretAs);

const spelled: ReadonlySet<string> = new Set(["characters", "spell-out", "verbatim"]);

type How = SayAs & Reader;
type Reading = (text: MappedText, how: How) => MappedText;

const problem = (interpretAs: string, why: string): Invalid =>
  new Invalid([{ path: ["text"], message: `A <say-as interpret-as="${interpretAs}"> ${why}.` }]);

/**
 * Rewrites content that contains digits. Words are not rewritten. `write` returns undefined if the
 * content is of another kind.
 */
const written =
  (write: (content: string, how: How) => string | undefined): Reading =>
  (text, how) =>
    rewrite(text, /\S(?:.*\S)?/gsu, ([content]) => {
      if (!/\p{Nd}/u.test(content)) return undefined;
      const said = write(content, how);
      if (said !== undefined) return said;
      throw problem(how.interpretAs, "has a content that is not of this kind");
    });

/** Like `written`, in the language's own words of CLDR or of this service. */
const inLanguage = (write: (content: string, how: How) => string | undefined | "unknown"): Reading =>
  written((content, how) => {
    const said = write(content, how);
    if (said !== "unknown") return said;
    throw problem(how.interpretAs, `cannot be read in the language ${how.lang}: write it in words`);
  });

const digits: Reading = (text) => rewrite(text, /(?<=\p{Nd})[\s.,()/–-]*(?=\p{Nd})/gu, () => " ");

/** Reads digit by digit, with a pause between groups. */
const telephone: Reading = (text) =>
  rewrite(
    rewrite(text, /^\s*\(/gu, () => ""),
    /(?<=\p{Nd})([\s.()/–-]*)(?=\p{Nd})/gu,
    ([, between]) => (between === "" ? " " : ", "),
  );

/**
 * espeak-ng names all characters in its languages (ssml-runs.ts). Other tools read capital letters
 * by their names.
 */
const characters: Reading = (text, { tool, lang }) =>
  readsMarkup.has(tool)
    ? text
    : rewrite(text, /\s*(\S\p{M}*)/gu, ({ 1: character = "", index }) => {
        const name = /^en\b/i.test(lang) ? englishNames[character] : undefined;
        return (index > 0 ? " " : "") + (name ?? character.toUpperCase());
      });

/** Signs that tools of plain texts do not read. */
const englishNames: Readonly<Record<string, string>> = {
  ...{ "-": "dash", ".": "dot", ",": "comma", "/": "slash", "\\": "backslash", _: "underscore" },
  ...{ ":": "colon", ";": "semicolon", "!": "exclamation mark", "?": "question mark", "'": "apostrophe" },
  ...{ '"': "quote", "(": "open bracket", ")": "close bracket" },
};

/** Leading zeros would be read digit by digit, and in English four digits as a year. */
const cardinal = written((content, { lang }) => {
  const number = content.replace(/^0+(?=\d+$)/, "");
  return /^en\b/i.test(lang) ? number.replace(/^(\d)(\d{3})$/, "$1,$2") : number;
});

const readings: Readonly<Record<string, Reading>> = {
  digits,
  telephone,
  ...{ characters, "spell-out": characters, verbatim: characters },
  ...{ cardinal, number: cardinal },
  ordinal: inLanguage((content, { lang }) => {
    const [, number] = /^(\d{1,9})\P{Nd}{0,4}$/u.exec(content) ?? [];
    return number === undefined ? undefined : (ordinal(Number(number), lang) ?? "unknown");
  }),
  date: inLanguage((content, { format, lang }) => dateOf(content, format, lang)),
  time: inLanguage((content, { lang }) => durationOf(content, lang) ?? clockTime(content)),
  currency: inLanguage((content, { lang }) => moneyOf(content, lang) ?? content),
  unit: inLanguage((content, { lang }) => unitOf(content, lang) ?? content),
  fraction: inLanguage((content, { lang }) => fractionOf(content, lang)),
  expletive: (_, { interpretAs }) => {
    throw problem(interpretAs, "is not supported by this voice");
  },
};

/** `14:30`, `2.30 pm`, `1430`. */
const clockTime = (content: string): string | undefined =>
  /^\d{1,2}(?:[:.]\d{2}){0,2}\s*(?:[AaPp]\.?\s?[Mm]\.?|\p{L}+)?$/u.test(content)
    ? content
    : content.replace(/^(\d{1,2})(\d{2})$/, "$1:$2").match(/^\d{1,2}:\d{2}$/)?.[0];
