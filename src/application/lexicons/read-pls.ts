import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import { Invalid, type Problem } from "../../domain/errors.ts";
import {
  type LexiconRules,
  lexiconRules,
  maxRules,
  phonemeAlphabets,
} from "../../domain/lexicons/lexicon-rules.ts";
import { parse } from "../../domain/validation.ts";

/**
 * The media type of the W3C's Pronunciation Lexicon Specification 1.0 (RFC 4267), and the general
 * types of XML.
 */
export const plsMediaTypes = ["application/pls+xml", "application/xml", "text/xml"] as const;
const namespace = "http://www.w3.org/2005/01/pronunciation-lexicon";

interface Pronunciation {
  readonly kind: "alias" | "phoneme";
  readonly text: string;
  readonly alphabet: string | undefined;
  readonly isPreferred: boolean;
}

interface Lexeme {
  readonly graphemes: string[];
  readonly pronunciations: Pronunciation[];
}

/**
 * Reads a PLS document. The preferred or first pronunciation of a lexeme counts. If it is a
 * phoneme, voices that take no phonemes speak the first alias. Each grapheme becomes a rule.
 * Metadata and examples are ignored.
 * @throws {Invalid} with the place in the document, or the number of the lexeme
 */
export const readPls = (xml: string): LexiconRules => {
  const parser = new SaxesParser({ xmlns: true, forceXMLVersion: true, defaultXMLVersion: "1.0" });
  const refuse = (message: string): Invalid =>
    invalid(`${message} (line ${parser.line}, column ${parser.column}).`);
  const reader = lexiconReader(refuse);
  parser.on("opentag", reader.open);
  parser.on("closetag", reader.close);
  parser.on("text", reader.text);
  parser.on("cdata", reader.text);
  // Entities could include files or grow without bound.
  parser.on("doctype", () => {
    throw refuse("A lexicon must not have a DOCTYPE");
  });
  parser.on("error", () => {
    throw refuse("The lexicon is not well-formed XML");
  });
  parser.write(xml.trim()).close();
  return reader.lexicon();
};

const children: Readonly<Record<string, readonly string[]>> = {
  "": ["lexicon"],
  lexicon: ["meta", "metadata", "lexeme"],
  lexeme: ["grapheme", "alias", "phoneme", "example"],
};

const lexiconReader = (refuse: (message: string) => Invalid) => {
  const path: string[] = [];
  const lexemes: Lexeme[] = [];
  let root: { readonly lang: string | undefined; readonly alphabet: string | undefined } | undefined;
  let attributes: Readonly<Record<string, SaxesAttributeNS>> = {};
  let text = "";
  let ignored = 0;

  const attribute = (name: string): string | undefined => attributes[name]?.value.trim();
  const endOfText = (kind: string): void => {
    const lexeme = lexemes.at(-1);
    if (kind === "grapheme") lexeme?.graphemes.push(text);
    if (kind !== "alias" && kind !== "phoneme") return;
    const alphabet = attribute("alphabet") ?? root?.alphabet;
    lexeme?.pronunciations.push({ kind, text, alphabet, isPreferred: attribute("prefer") === "true" });
  };
  return {
    open: (tag: SaxesTagNS): void => {
      if (ignored > 0 || tag.local === "meta" || tag.local === "metadata" || tag.local === "example") {
        ignored++;
        return;
      }
      const parent = path.at(-1) ?? "";
      if ((tag.uri !== namespace && tag.uri !== "") || !children[parent]?.includes(tag.local)) {
        throw refuse(
          parent === "" ? "A lexicon begins with <lexicon>" : `Such an element is not allowed in <${parent}>`,
        );
      }
      path.push(tag.local);
      attributes = tag.attributes;
      text = "";
      if (tag.local === "lexicon") root = { lang: attribute("xml:lang"), alphabet: attribute("alphabet") };
      if (tag.local !== "lexeme") return;
      if (attribute("role") !== undefined) throw refuse("Lexemes with a role are not supported");
      if (lexemes.length >= maxRules) throw refuse(`A lexicon has at most ${maxRules} lexemes`);
      lexemes.push({ graphemes: [], pronunciations: [] });
    },
    close: (): void => {
      if (ignored > 0) ignored--;
      else endOfText(path.pop() ?? "");
    },
    text: (words: string): void => {
      if (ignored === 0) text += words;
    },
    lexicon: (): LexiconRules => {
      if (root?.lang === undefined) throw invalid("<lexicon> needs the attribute xml:lang.");
      return toRules(root.lang, lexemes);
    },
  };
};

const toRules = (lang: string, lexemes: readonly Lexeme[]): LexiconRules => {
  const rules = lexemes.flatMap((lexeme, index) =>
    lexeme.graphemes.map((grapheme) => ({ lexeme: index, rule: { grapheme, ...pronounced(lexeme, index) } })),
  );
  const empty = lexemes.findIndex(({ graphemes }) => graphemes.length === 0);
  if (empty !== -1)
    throw new Invalid([{ path: ["lexeme", empty + 1], message: "A lexeme needs a grapheme." }]);
  try {
    return parse(lexiconRules, { lang, rules: rules.map(({ rule }) => rule) });
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Invalid(error.problems.map((problem) => inLexeme(problem, (at) => rules[at]?.lexeme ?? 0)));
  }
};

/** Names the lexeme of a problem, counted from 1, instead of the rule: each grapheme has a rule. */
const inLexeme = ({ path, message }: Problem, lexemeOf: (rule: number) => number): Problem => {
  const [first, rule, ...rest] = path;
  if (first !== "rules" || typeof rule !== "number") return { path, message };
  return { path: ["lexeme", lexemeOf(rule) + 1, ...rest], message };
};

const pronounced = ({ pronunciations }: Lexeme, index: number): object => {
  const chosen = pronunciations.find(({ isPreferred }) => isPreferred) ?? pronunciations[0];
  if (!chosen) {
    throw new Invalid([{ path: ["lexeme", index + 1], message: "A lexeme needs an alias or a phoneme." }]);
  }
  if (chosen.kind === "alias") return { alias: chosen.text };
  const alphabet = phonemeAlphabets.find((known) => known === chosen.alphabet);
  if (!alphabet) {
    const message = `The alphabet of a phoneme must be ${phonemeAlphabets.join(" or ")}.`;
    throw new Invalid([{ path: ["lexeme", index + 1, "alphabet"], message }]);
  }
  const alias = pronunciations.find(({ kind }) => kind === "alias");
  return { phoneme: chosen.text.trim(), alphabet, ...(alias && { alias: alias.text }) };
};

const invalid = (message: string): Invalid => new Invalid([{ path: [], message }]);
