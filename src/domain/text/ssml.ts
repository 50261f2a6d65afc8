import { SaxesParser, type SaxesTagPlain } from "saxes";
import { Invalid } from "../errors.ts";
import { breakBudget } from "./ssml-breaks.ts";
import { type ElementRule, elementRules } from "./ssml-rules.ts";
import { type SayAs, type Speaker, speakerWithin } from "./ssml-speaker.ts";
import { attributesXml, escapeXml } from "./xml.ts";

const deepest = 16;

/** The context of words in a document. */
export interface WordsPlace {
  /**
   * True if the document itself says how the words are pronounced, by an alias, phoneme or say-as.
   */
  readonly isFixed: boolean;
  readonly speaker: Speaker;
  /** The innermost `<say-as>` around it. */
  readonly sayAs?: SayAs | undefined;
}

/** What a document may contain beyond the elements that all engines know. */
export interface Dialect {
  /**
   * Finds the engine's own name of a voice, and its language. If the result is undefined, the
   * element of the voice is unwrapped. By default, all such elements are unwrapped. `outer`: the
   * speaker around the element.
   * @throws {Invalid}
   */
  readonly voiceNamed?: (
    name: string,
    lang: string | undefined,
    outer: Speaker,
  ) => { readonly name: string; readonly lang?: string | undefined } | undefined;
  /** Azure's own elements are kept. Default: false, they are unwrapped. */
  readonly mstts?: boolean;
}

/** A document that has passed `parseSsml` in any dialect keeps its elements. */
export const anyDialect: Dialect = { voiceNamed: (name, lang) => ({ name, lang }), mstts: true };

/** Returns the words as canonical SSML. Called for all spoken words of a document in order. */
type WriteWords = (words: string, place: WordsPlace) => string;

/**
 * Rewrites a document in a canonical form, which has only known elements and attributes. Rewriting
 * it again changes nothing. Drops comments, processing instructions, namespaces and `voice`, and
 * shortens breaks. Engines must only get such documents: others can make them open files.
 * @throws {Invalid} for `text`, naming element and position but quoting no text
 */
export const parseSsml = (
  text: string,
  writeWords: WriteWords = escapeXml,
  dialect: Dialect = {},
): string => {
  if (!text.isWellFormed()) throw refusal("The SSML contains a lone surrogate");
  const parser = new SaxesParser({ xmlns: false, forceXMLVersion: true, defaultXMLVersion: "1.0" });
  const writer = documentWriter(writeWords, dialect, (message) => refusal(message, parser));
  parser.on("opentag", writer.open);
  parser.on("closetag", writer.close);
  parser.on("text", writer.text);
  parser.on("cdata", writer.text);
  parser.on("doctype", () => {
    throw refusal("SSML must not have a DOCTYPE", parser);
  });
  parser.on("error", () => {
    throw refusal("The SSML is not well-formed", parser);
  });
  parser.write(text.trim()).close();
  return writer.document();
};

interface OpenElement {
  readonly name: string;
  readonly as: ElementRule["as"] | "replace";
  readonly place: WordsPlace;
}

const fixing: ReadonlySet<string> = new Set(["phoneme", "say-as", "sub"]);

const documentWriter = (
  writeWords: WriteWords,
  { voiceNamed, mstts = false }: Dialect,
  refuse: (message: string) => Invalid,
) => {
  const out: string[] = [];
  const path: OpenElement[] = [];
  const cutBreak = breakBudget();
  let replaced = 0;
  let speaks = false;

  const write = (markup: string) => {
    if (replaced === 0) out.push(markup);
  };
  const placeHere = (): WordsPlace => path.at(-1)?.place ?? { isFixed: false, speaker: {} };
  const placeIn = (name: string, attributes: Readonly<Record<string, string>>): WordsPlace => {
    const { isFixed, speaker, sayAs } = placeHere();
    const { "interpret-as": interpretAs, format } = attributes;
    return {
      isFixed: isFixed || fixing.has(name),
      sayAs: interpretAs === undefined ? (name === "phoneme" ? undefined : sayAs) : { interpretAs, format },
      speaker: speakerWithin(speaker, name, attributes) ?? speaker,
    };
  };
  const rulesOf = (
    name: string,
    rule: ElementRule,
    given: Readonly<Record<string, string>>,
  ): Pick<ElementRule, "as"> & { readonly attributes: Readonly<Record<string, string>> } => {
    const { name: voice, "xml:lang": lang } = given;
    const named =
      name === "voice" && voice !== undefined ? voiceNamed?.(voice, lang, placeHere().speaker) : undefined;
    if (!named) {
      const attributes = allowed(name, rule, given, refuse);
      return rule.isAzures && !mstts ? { as: "unwrap", attributes: {} } : { as: rule.as, attributes };
    }
    return { as: "keep", attributes: { name: named.name, ...(named.lang && { "xml:lang": named.lang }) } };
  };
  const say = (words: string) => {
    if (replaced > 0) return;
    speaks ||= /[^\s\p{Cf}]/u.test(words);
    out.push(writeWords(words, placeHere()));
  };
  return {
    open: ({ name, attributes: given }: SaxesTagPlain) => {
      const rule = elementRules.get(name);
      if (!rule || (name === "speak") !== (path.length === 0)) {
        throw refuse(`${shown(name)} is not allowed ${rule ? "here" : "in SSML"}`);
      }
      if (path.length >= deepest) throw refuse(`SSML may be at most ${deepest} elements deep`);
      const { as, attributes } = rulesOf(name, rule, given);
      const { alias } = attributes;
      const place = placeIn(name, attributes);
      path.push({ name, as: alias === undefined ? as : "replace", place });
      if (as === "empty")
        write(`<${name}${attributesXml(name === "break" ? cutBreak(attributes) : attributes)}/>`);
      else if (as === "keep") write(`<${name}${attributesXml(attributes)}>`);
      if (alias === undefined) return;
      say(alias);
      replaced++;
    },
    close: () => {
      const element = path.pop();
      if (element?.as === "replace") replaced--;
      else if (element?.as === "keep") write(`</${element.name}>`);
    },
    /** Outside of the document there are only blanks. */
    text: (words: string) => {
      if (path.length > 0) say(words.replaceAll("\r", "\n"));
    },
    document: (): string => {
      if (!speaks) throw refusal("The SSML contains nothing to speak");
      return out.join("");
    },
  };
};

const allowed = (
  element: string,
  rule: ElementRule,
  given: Readonly<Record<string, string>>,
  refuse: (message: string) => Invalid,
): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const shape = Object.hasOwn(rule.attributes, name) ? rule.attributes[name] : undefined;
    if (shape?.(value)) kept[name] = value;
    else if (shape)
      throw refuse(`The attribute ${name} of ${shown(element)} has a value that is not allowed`);
    else if (name !== "xmlns" && !name.includes(":") && !rule.dropped?.includes(name)) {
      throw refuse(`${shown(element)} has an attribute that is not allowed`);
    }
  }
  return kept;
};

/** The name comes from the caller, so it is shown only if it looks like a name. */
const shown = (name: string): string => (/^[A-Za-z][\w:.-]{0,39}$/.test(name) ? `<${name}>` : "An element");

const refusal = (message: string, at?: { readonly line: number; readonly column: number }): Invalid => {
  const where = at ? ` (line ${at.line}, column ${at.column})` : "";
  return new Invalid([{ path: ["text"], message: `${message}${where}.` }]);
};
