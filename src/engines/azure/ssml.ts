import { type Prosody, type ProsodyParameter, prosodyParameters } from "../../domain/synthesis/speech.ts";
import { voicesOf } from "../../domain/text/ssml-runs.ts";
import { around, readSsml, type SsmlNode, writeSsml } from "../../domain/text/ssml-tree.ts";
import { attributesXml, escapeXml, withoutForbidden } from "../../domain/text/xml.ts";
import type { SpeechRequest } from "../engine.ts";

type AzureSpeech = Pick<SpeechRequest, "text" | "ssml" | "voice" | "lang" | "prosody">;

/**
 * Writes the document for Azure, with its voices in order. The `<prosody>` around their words has
 * only the parameters that are not normal.
 */
export const azureSsml = ({ text, ssml, voice, lang, prosody }: AzureSpeech): string => {
  const hasOwn = ssml && text.includes("<mstts:");
  const speak = {
    ...{ version: "1.0", xmlns: "http://www.w3.org/2001/10/synthesis", "xml:lang": lang },
    ...(hasOwn && { "xmlns:mstts": "https://www.w3.org/2001/mstts" }),
  };
  const document = ssml ? asAzureReads(text) : `<speak>${escapeXml(withoutForbidden(text))}</speak>`;
  // Voices must not be nested.
  const turns = document.includes("<voice ")
    ? voicesOf(document)
    : [{ voice: undefined, content: contentOf(document) }];
  const voices = turns.map(({ voice: name = voice, content }) => {
    return element("voice", { name }, hasOwn ? turnedWithin(prosody, content) : turned(prosody, content));
  });
  return element("speak", speak, voices.join(""));
};

/** Azure's own elements must be around `<prosody>`, not within it. */
const turnedWithin = (prosody: Prosody, content: string): string => {
  const parts: string[] = [];
  let others: SsmlNode[] = [];
  const takeOthers = (): void => {
    if (others.length > 0) parts.push(turned(prosody, others.map(writeSsml).join("")));
    others = [];
  };
  for (const node of readSsml(`<speak>${content}</speak>`).content) {
    if (typeof node === "string" || !node.name.startsWith("mstts:")) others.push(node);
    else {
      takeOthers();
      parts.push(around(node, turned(prosody, node.content.map(writeSsml).join(""))));
    }
  }
  takeOthers();
  return parts.join("");
};

const element = (name: string, attributes: Readonly<Record<string, string>>, content: string): string =>
  `<${name}${attributesXml(attributes)}>${content}</${name}>`;

const turned = (prosody: Prosody, said: string): string => {
  const notNormal = prosodyParameters.filter((parameter) => prosody[parameter] !== 1);
  if (notNormal.length === 0) return said;
  const attributes = Object.fromEntries(
    notNormal.map((parameter) => [parameter, written[parameter](prosody[parameter])]),
  );
  return element("prosody", attributes, said);
};

/** Writes a factor as Azure reads it. Azure silently limits values beyond these ranges. */
const written: Readonly<Record<ProsodyParameter, (factor: number) => string>> = {
  pitch: (factor) => change(within(0.5, 1.5, factor)),
  rate: (factor) => change(within(0.5, 2, factor)),
  volume: (factor) => String(hundredths(within(0, 1, factor) * 100)),
};

const within = (least: number, most: number, value: number): number => Math.min(most, Math.max(least, value));

const hundredths = (value: number): number => Math.round(value * 100) / 100;

const change = (factor: number): string => {
  const percent = hundredths((factor - 1) * 100);
  return `${percent < 0 ? "" : "+"}${percent}%`;
};

/** Returns the content of `<speak>`: in the canonical form, `>` is only at the end of a tag. */
const contentOf = (document: string): string =>
  document.slice(document.indexOf(">") + 1, document.lastIndexOf("</"));

const asAzureReads = (document: string): string =>
  document
    .replace(/(<prosody\b[^>]*? rate=")(\d[\d.]*)%"/g, (_, before: string, percent: string) => {
      // In SSML, 80% is slower than normal; Azure takes every percentage for a change, and this one
      // for +80%.
      return `${before}${Number(percent) / 100}"`;
    })
    .replace(/(<prosody\b[^>]*? volume=")([+-][\d.]+)dB"/g, (_, before: string, decibels: string) => {
      // Azure does not take decibels, only numbers, percentages and words.
      return `${before}${change(10 ** (Number(decibels) / 20))}"`;
    });
