import { Invalid } from "../errors.ts";
import { type PieceLimits, pack, sentences } from "./pieces.ts";
import { around, readSsml, type SsmlElement, type SsmlNode, writeSsml } from "./ssml-tree.ts";
import { escapeXml } from "./xml.ts";

/**
 * Splits a document from `parseSsml` into complete documents: between the elements of `<speak>`,
 * between sentences, and in the same way within divisible elements that are too large.
 * @throws {Invalid} for `text`, if an indivisible element is too large
 */
export const splitSsml = (document: string, lang: string, limits: PieceLimits): string[] => {
  if (!limits.target && limits.measure(document) <= limits.max) return [document];
  const speak = readSsml(document);
  const inner = within(speak, limits);
  const parts = speak.content.flatMap((node) => partsOf(node, lang, inner));
  return pack(parts, inner).map((content) => around(speak, content));
};

/** Elements that can end and start again between two sentences without an audible difference. */
const divisible: ReadonlySet<string> = new Set([
  ...["p", "s", "prosody", "emphasis", "lang", "say-as", "voice", "mstts:express-as"],
]);

const partsOf = (node: SsmlNode, lang: string, limits: PieceLimits): string[] => {
  if (typeof node === "string") {
    const measure = (text: string) => limits.measure(escapeXml(text));
    return sentences(node, lang, { ...limits, measure }).map(escapeXml);
  }
  const whole = writeSsml(node);
  if (limits.measure(whole) <= limits.max) return [whole];
  if (!divisible.has(node.name)) throw tooLarge(node);
  const inner = within(node, limits);
  const parts = node.content.flatMap((child) => partsOf(child, lang, inner));
  return pack(parts, inner).map((content) => around(node, content));
};

const within = (element: SsmlElement, limits: PieceLimits): PieceLimits => ({
  ...limits,
  max: limits.max - limits.measure(around(element, "")),
});

const tooLarge = ({ name }: SsmlElement): Invalid =>
  new Invalid([
    { path: ["text"], message: `The SSML contains a <${name}> that is too large to be sent in one piece.` },
  ]);
