import { hash } from "node:crypto";
import { z } from "zod";
import { Conflict, NotFound } from "../errors.ts";
import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import type { lexiconShapes } from "./event-shapes.ts";
import type { LexiconRules } from "./lexicon-rules.ts";

/** A website's lexicons. Stream `lexicons-{websiteId}`. Times are ISO 8601, UTC. */
export type LexiconEvent = EventOf<typeof lexiconShapes>;

export interface Lexicon extends LexiconRules {
  readonly version: number;
  readonly digest: string;
  readonly setAt: string;
}

export interface Lexicons {
  /** The highest version. */
  readonly versions: number;
  readonly byName: Readonly<Record<string, Lexicon>>;
}

const prefix = "lexicons-";
export const lexiconsStream = (websiteId: string): string => `${prefix}${websiteId}`;

/**
 * A name begins with a letter or digit, so that it is neither an option on a command line nor a dot
 * segment of a path.
 */
export const lexiconName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "A lexicon's name has 1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit.",
  );

export const initialLexicons = (): Lexicons => ({ versions: 0, byName: {} });

export const evolveLexicons = (lexicons: Lexicons, event: LexiconEvent): Lexicons => {
  switch (event.type) {
    case "LexiconSet": {
      const { name, at, ...lexicon } = event.data;
      const byName = { ...lexicons.byName, [name]: { ...lexicon, setAt: at } };
      return { versions: Math.max(lexicons.versions, lexicon.version), byName };
    }
    case "LexiconRemoved": {
      const { [event.data.name]: _removed, ...byName } = lexicons.byName;
      return { ...lexicons, byName };
    }
    default:
      return never(event, lexicons);
  }
};

export const lexiconsDecider = { initial: initialLexicons, evolve: evolveLexicons };

export const maxLexicons = 10;

/**
 * Returns no event if the lexicon has these rules already.
 * @throws {Conflict} if the website has too many lexicons
 */
export const setLexicon = (
  { versions, byName }: Lexicons,
  { name, lang, rules, at }: { name: string; at: string } & LexiconRules,
): LexiconEvent[] => {
  const digest = digestOf({ lang, rules });
  const was = lexiconOf({ byName }, name);
  if (was?.digest === digest) return [];
  if (!was && Object.keys(byName).length >= maxLexicons) {
    throw new Conflict(`A website has at most ${maxLexicons} lexicons: remove one first.`);
  }
  const language = lang === undefined ? {} : { lang };
  return [{ type: "LexiconSet", data: { name, version: versions + 1, digest, ...language, rules, at } }];
};

/** @throws {NotFound} */
export const removeLexicon = (
  lexicons: Lexicons,
  { name, at }: { name: string; at: string },
): LexiconEvent[] => {
  requireLexicon(lexicons, name);
  return [{ type: "LexiconRemoved", data: { name, at } }];
};

/** @throws {NotFound} */
export const requireLexicon = (lexicons: Pick<Lexicons, "byName">, name: string): Lexicon => {
  const lexicon = lexiconOf(lexicons, name);
  if (!lexicon) throw new NotFound("The website has no lexicon of this name.");
  return lexicon;
};

/** The name may come from a request: a lexicon must not be found for `constructor`. */
const lexiconOf = ({ byName }: Pick<Lexicons, "byName">, name: string): Lexicon | undefined =>
  Object.hasOwn(byName, name) ? byName[name] : undefined;

const digestOf = ({ lang, rules }: LexiconRules): string => {
  const listed = rules.map(({ grapheme, alias, phoneme, alphabet }) => [
    grapheme,
    alias ?? null,
    phoneme ?? null,
    alphabet ?? null,
  ]);
  return hash("sha256", JSON.stringify([lang ?? null, listed]));
};
