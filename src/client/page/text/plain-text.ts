/** A text node of the page. */
export interface TextPiece {
  readonly node: Text;
  /** The element whose box begins a new line. */
  readonly block: Element;
  /** True if it is an author's name. */
  readonly isAuthor: boolean;
}

/** Characters that are not seen: soft hyphens and characters of no width. */
export const invisible = "\\u00AD\\u200B\\u2060\\uFEFF";

const invisibles = new RegExp(`[${invisible}]+`, "g");

/**
 * Replaces a `<` that would make the service read the text as SSML by a similar character of the
 * same length.
 */
export const notSsml = (text: string): string => text.replace(/<(?=[?!]|speak)/gi, "‹");

/**
 * A text of the page in one line, without invisible characters. The service never reads it as SSML.
 */
export const plainText = (text: string): string =>
  notSsml(text.replace(invisibles, "").replace(/\s+/g, " ").trim());

/** True if the text has anything to speak: a letter or a digit. */
export const isSpeakable = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
