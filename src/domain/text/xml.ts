/**
 * Characters that XML 1.0 forbids even as references (section 2.2): control characters, lone
 * surrogates, U+FFFE, U+FFFF.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu;

/** Escapes a text that becomes the content of an element. */
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Removes forbidden characters. */
export const withoutForbidden = (text: string): string => text.replace(forbidden, "");

/** Attributes of a tag, each with a preceding blank, in a fixed order. */
export const attributesXml = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ` ${name}="${escapeXml(value).replaceAll('"', "&quot;")}"`)
    .join("");
