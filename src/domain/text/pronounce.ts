import { Invalid } from "../errors.ts";
import type { FindReplacements, Replacement, VoiceTraits } from "../lexicons/replacements.ts";
import { type Dialect, parseSsml, type WordsPlace } from "./ssml.ts";
import { attributesXml, escapeXml, withoutForbidden } from "./xml.ts";

/** A text with the replacements of lexicons. */
export interface PronouncedText {
  /** Plain text, or canonical SSML. */
  readonly document: string;
  readonly ssml: boolean;
  /** Their places are indices of the text's spoken characters (`spokenText`). */
  readonly replacements: readonly Replacement[];
}

/** The number of characters that aliases may add to a text of this length. */
const maxAdded = (characters: number): number => 2 * characters + 1_000;

/**
 * Applies lexicons to a text in NFC, which is plain or SSML. In SSML, words whose pronunciation the
 * document gives stay as they are. A plain text becomes SSML if it contains phonemes. Returns
 * undefined if nothing is replaced.
 * @throws {Invalid} for `text`, if it is invalid SSML, or too long with its aliases
 */
export const pronounce = (
  { text, ssml }: { readonly text: string; readonly ssml: boolean },
  find: FindReplacements,
  voice: VoiceTraits,
  dialect: Dialect = {},
): PronouncedText | undefined => {
  const pronounced = ssml ? pronounceDocument(text, find, voice, dialect) : pronouncePlain(text, find, voice);
  if (pronounced.replacements.length === 0) return undefined;
  const added = pronounced.replacements.reduce((sum, { from, to, by }) => {
    return "alias" in by ? sum + by.alias.length - (to - from) : sum;
  }, 0);
  if (added <= maxAdded(text.length)) return pronounced;
  throw new Invalid([
    { path: ["text"], message: "With the replacements of the website's lexicons the text is too long." },
  ]);
};

const pronouncePlain = (text: string, find: FindReplacements, voice: VoiceTraits): PronouncedText => {
  const characters = Array.from(text);
  const replacements = find(characters, voice);
  if (replacements.every(({ by }) => "alias" in by)) {
    const document = written(characters, replacements, (words) => words);
    return { document, ssml: false, replacements };
  }
  const content = written(characters, replacements, (words) => escapeXml(withoutForbidden(words)));
  return { document: `<speak>${content}</speak>`, ssml: true, replacements };
};

const pronounceDocument = (
  text: string,
  find: FindReplacements,
  voice: VoiceTraits,
  dialect: Dialect,
): PronouncedText => {
  const replacements: Replacement[] = [];
  let before = 0;
  const write = (words: string, { isFixed, speaker }: WordsPlace): string => {
    const lang = speaker.lang ?? speaker.voice?.lang ?? voice.lang;
    const characters = Array.from(words);
    const found = isFixed ? [] : find(characters, { ...voice, lang });
    replacements.push(...found.map(({ from, to, by }) => ({ from: from + before, to: to + before, by })));
    before += characters.length;
    return written(characters, found, escapeXml);
  };
  const document = parseSsml(text, write, dialect);
  return { document, ssml: true, replacements };
};

const written = (
  characters: readonly string[],
  replacements: readonly Replacement[],
  write: (words: string) => string,
): string => {
  const wordsBetween = (from: number, to?: number): string => write(characters.slice(from, to).join(""));
  let next = 0;
  const parts = replacements.map(({ from, to, by }) => {
    const unchanged = wordsBetween(next, from);
    next = to;
    if ("alias" in by) return unchanged + write(by.alias);
    const attributes = attributesXml({ alphabet: by.alphabet, ph: by.phoneme });
    return `${unchanged}<phoneme${attributes}>${wordsBetween(from, to)}</phoneme>`;
  });
  return parts.join("") + wordsBetween(next);
};
