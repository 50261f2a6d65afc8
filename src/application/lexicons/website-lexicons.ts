import type { View } from "../../../projections/runner/view.ts";
import { Invalid } from "../../domain/errors.ts";
import { type Lexicon, type Lexicons, lexiconsStream } from "../../domain/lexicons/lexicons.ts";
import {
  type CompiledLexicon,
  compileLexicon,
  createFindReplacements,
  type FindReplacements,
} from "../../domain/lexicons/replacements.ts";

/** A lexicon that a request names. */
export interface LexiconChoice {
  readonly name: string;
  /** Default: any. */
  readonly version?: string | undefined;
}

/** The lexicons of websites, as syntheses apply them. */
export interface WebsiteLexicons {
  /** True if no website has any. */
  isEmpty(): boolean;
  /** True if the website has any. */
  has(websiteId: string): boolean;
  /**
   * The chosen lexicons in their order; by default all lexicons of the website, in the order of
   * their names. Undefined if there are none.
   * @throws {Invalid} if a chosen one does not exist, or has another version
   */
  of(websiteId: string, chosen?: readonly LexiconChoice[]): FindReplacements | undefined;
}

export const createWebsiteLexicons = (view: View<Lexicons>): WebsiteLexicons => {
  const compiled = new WeakMap<Lexicon, CompiledLexicon>();
  const compiledOnce = (lexicon: Lexicon): CompiledLexicon => {
    const known = compiled.get(lexicon) ?? compileLexicon(lexicon);
    compiled.set(lexicon, known);
    return known;
  };
  const lexiconsOf = (websiteId: string): readonly (readonly [name: string, Lexicon])[] => {
    const { byName = {} } = view.get(lexiconsStream(websiteId)) ?? {};
    return Object.entries(byName).sort(([a], [b]) => (a < b ? -1 : 1));
  };

  return {
    isEmpty: () => view.size === 0,
    has: (websiteId) => lexiconsOf(websiteId).length > 0,
    of: (websiteId, chosen) => {
      const own = lexiconsOf(websiteId);
      const applied = chosen ? choose(own, chosen) : own.map(([, lexicon]) => lexicon);
      if (applied.length === 0) return undefined;
      return createFindReplacements(applied.map(compiledOnce));
    },
  };
};

const choose = (
  own: readonly (readonly [name: string, Lexicon])[],
  chosen: readonly LexiconChoice[],
): Lexicon[] =>
  chosen.map(({ name, version }) => {
    const [, lexicon] = own.find(([known]) => known === name) ?? [];
    if (!lexicon) throw invalid(`The website has no lexicon ${JSON.stringify(name)}.`);
    if (version === undefined || version === String(lexicon.version)) return lexicon;
    throw invalid(`The version of the lexicon ${JSON.stringify(name)} is ${lexicon.version}.`);
  });

const invalid = (message: string): Invalid => new Invalid([{ path: [], message }]);
