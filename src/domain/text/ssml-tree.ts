import { SaxesParser } from "saxes";
import { elementRules } from "./ssml-rules.ts";
import { attributesXml, escapeXml } from "./xml.ts";

/** A document from `parseSsml`, as a tree. */
export interface SsmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: SsmlNode[];
}

export type SsmlNode = string | SsmlElement;

export const readSsml = (document: string): SsmlElement => {
  const root: SsmlElement = { name: "", attributes: {}, content: [] };
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

export const writeSsml = (node: SsmlNode): string =>
  typeof node === "string" ? escapeXml(node) : around(node, node.content.map(writeSsml).join(""));

export const startTag = ({ name, attributes }: SsmlElement): string =>
  `<${name}${attributesXml(attributes)}>`;

/** Writes the element with another content. */
export const around = (element: SsmlElement, content: string): string =>
  isEmptyElement(element)
    ? `<${element.name}${attributesXml(element.attributes)}/>`
    : `${startTag(element)}${content}</${element.name}>`;

export const isEmptyElement = ({ name }: SsmlElement): boolean => elementRules.get(name)?.as === "empty";
