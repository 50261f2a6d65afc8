import type { LanguageSpan, TextSection } from "../../voxledger.ts";
import type { Paragraph } from "./paragraphs.ts";

/** The language that the page declares for an element; undefined if it declares none. */
export const languageOf = (element: Element | null | undefined): string | undefined =>
  element?.closest<HTMLElement>("[lang]")?.getAttribute("lang") || undefined;

/** A paragraph with its language, and its words in other languages. */
export const sectionOf = ({ element, text, runs }: Paragraph): TextSection => {
  const lang = languageOf(element);
  return withSpans(
    text,
    lang,
    runs.map(({ charIndex, length, node }) => {
      return { charIndex, charLength: length, lang: languageOf(node.parentElement) ?? "" };
    }),
  );
};

/** `words` are in the order of the text. If all are in another language, it is that of the text. */
export const withSpans = (
  text: string,
  lang: string | undefined,
  words: readonly LanguageSpan[],
): TextSection => {
  const [first] = words;
  if (first && first.lang !== "" && words.every((word) => word.lang === first.lang)) {
    return { text, lang: first.lang };
  }
  const spans: LanguageSpan[] = [];
  for (const [at, word] of words.entries()) {
    if (word.lang === "" || word.lang === lang) continue;
    const last = words[at - 1]?.lang === word.lang ? spans.pop() : undefined;
    const charIndex = last?.charIndex ?? word.charIndex;
    spans.push({ charIndex, charLength: word.charIndex + word.charLength - charIndex, lang: word.lang });
  }
  return { text, lang, ...(spans.length > 0 && { spans }) };
};
