import { SaxesParser } from "saxes";
import { Invalid } from "../errors.ts";
import { type PieceLimits, pack, sentences } from "./pieces.ts";
import { attributesXml, escapeXml } from "./xml.ts";

/**
 * Splits a document from `parseSsml` into complete documents: between the elements of `<speak>` and between sentences,
 * and likewise within elements that are too large and divisible. @throws {Invalid} path `text`: an indivisible element
 * is too large
 */
export const splitSsml = (document: string, lang: string, limits: PieceLimits): string[] => {
  if (!limits.target && limits.measure(document) <= limits.max) return [document];
  const speak = parse(document);
  const inner = within(speak, limits);
  const parts = speak.content.flatMap((node) => partsOf(node, lang, inner));
  return pack(parts, inner).map((content) => around(speak, content));
};

/** Elements that can end and start again between two sentences without an audible difference. */
const divisible: ReadonlySet<string> = new Set(["p", "s", "prosody", "emphasis", "lang", "say-as"]);

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: Node[];
}

type Node = string | Element;

const partsOf = (node: Node, lang: string, limits: PieceLimits): string[] => {
  if (typeof node === "string") {
    const measure = (text: string) => limits.measure(escapeXml(text));
    return sentences(node, lang, { ...limits, measure }).map(escapeXml);
  }
  const whole = written(node);
  if (limits.measure(whole) <= limits.max) return [whole];
  if (!divisible.has(node.name)) throw tooLarge(node);
  const inner = within(node, limits);
  const parts = node.content.flatMap((child) => partsOf(child, lang, inner));
  return pack(parts, inner).map((content) => around(node, content));
};

const within = (element: Element, limits: PieceLimits): PieceLimits => ({
  ...limits,
  max: limits.max - limits.measure(around(element, "")),
});

const written = (node: Node): string =>
  typeof node === "string" ? escapeXml(node) : around(node, node.content.map(written).join(""));

const around = ({ name, attributes }: Element, content: string): string =>
  name === "break"
    ? `<${name}${attributesXml(attributes)}/>`
    : `<${name}${attributesXml(attributes)}>${content}</${name}>`;

const parse = (document: string): Element => {
  const root: Element = { name: "", attributes: {}, content: [] };
  const path = [root];
  const parser = new SaxesParser({ xmlns: false });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes, content: [] };
    path.at(-1)?.content.push(element);
    path.push(element);
  });
  parser.on("closetag", () => void path.pop());
  parser.on("text", (text) => void path.at(-1)?.content.push(text));
  parser.write(document).close();
  const [speak] = root.content;
  if (speak === undefined || typeof speak === "string") throw new TypeError("The document is not SSML.");
  return speak;
};

const tooLarge = ({ name }: Element): Invalid =>
  new Invalid([
    { path: ["text"], message: `The SSML contains a <${name}> that is too large to be sent in one piece.` },
  ]);
