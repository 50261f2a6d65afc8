import { Invalid } from "../../../domain/errors.ts";
import { isSsml } from "../../../domain/text/is-ssml.ts";
import { parseSsml } from "../../../domain/text/ssml.ts";
import { elementRules } from "../../../domain/text/ssml-rules.ts";
import { escapeXml } from "../../../domain/text/xml.ts";

/** A text of ElevenLabs' API that is read as the content of `<speak>`. */
export interface SsmlContent {
  /** The whole document. */
  readonly document: string;
  /**
   * For each code point of the text, how many code points of the document stand for it. `<speak>`
   * precedes them.
   */
  readonly lengths: readonly number[];
}

export const speakTag = "<speak>";

/**
 * ElevenLabs reads `<break time="1.5s" />` in every text, and other elements only with
 * `enable_ssml_parsing`; anything else is plain text. Returns undefined for a whole document.
 * Without `parsesSsml`, also returns undefined for a text without breaks.
 */
export const ssmlContent = (text: string, parsesSsml: boolean): SsmlContent | undefined => {
  if (isSsml(text) || !(parsesSsml || text.includes("<break"))) return undefined;
  let content = "";
  const lengths: number[] = [];
  for (const token of text.match(parsesSsml ? markup : breaks) ?? []) {
    const isKept = token.length > 1 && (parsesSsml ? isKnown(token) : isBreak(token));
    for (const part of isKept ? [token] : token) {
      const written = isKept ? part : escapeXml(part);
      content += written;
      if (isKept) for (const _ of part) lengths.push(1);
      else lengths.push(written.length > part.length ? written.length : 1);
    }
  }
  if (!parsesSsml && content === escapeXml(text)) return undefined;
  return { document: `${speakTag}${content}</speak>`, lengths };
};

const breaks = /<break\b[^<>]*>|[\s\S]/gu;
/** Tags, references, and single characters. */
const markup = /<\/?[A-Za-z][^<>]*>|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});|[\s\S]/gu;

const isKnown = (token: string): boolean => {
  const [, name] = /^<\/?([^\s/>]+)/.exec(token) ?? [];
  return name === undefined || (name !== "speak" && elementRules.has(name));
};

/** True for a complete and valid element. */
const isBreak = (tag: string): boolean => {
  try {
    return parseSsml(`${speakTag}a${tag}</speak>`).includes("<break");
  } catch (error) {
    if (error instanceof Invalid) return false;
    throw error;
  }
};
