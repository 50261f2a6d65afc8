import type { Feature } from "./feature.ts";
import { sectionOf } from "./text/language.ts";
import { type Paragraph, readParagraphs } from "./text/paragraphs.ts";
import { queryAll } from "./text/selectors.ts";

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * Alt+↓ and Alt+↑ speak the next and the previous paragraph of the page's articles, or of the page
 * if it has none. The first key speaks the first paragraph in view.
 */
export const navigateParagraphs: Feature = ({ features, speaker, highlighter, signal }) => {
  const { webPlayer } = features;
  let current: Element | undefined;

  const paragraphsOfPage = (): Paragraph[] => {
    const articles = queryAll(document, webPlayer.selector);
    return (articles.length > 0 ? articles : [document.body]).flatMap((article) =>
      readParagraphs(article, webPlayer),
    );
  };
  const speak = async (paragraph: Paragraph): Promise<void> => {
    current = paragraph.element;
    paragraph.element.scrollIntoView({ block: "nearest" });
    const onboundary = (charIndex: number, name: string, { charLength }: { charLength: number }): void => {
      if (name === "word") highlighter.showWord(paragraph, charIndex, charLength);
    };
    highlighter.showParagraph(paragraph);
    try {
      await speaker.speak([sectionOf(paragraph)], { onboundary });
    } catch {
      // OnError has reported it
    }
    highlighter.clear(paragraph);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (!event.altKey || event.ctrlKey || event.metaKey || step === undefined || isEditable(event)) return;
    const paragraphs = paragraphsOfPage();
    const index = paragraphs.findIndex(({ element }) => element === current);
    const next = index < 0 ? paragraphs.find(isInView) : paragraphs[index + step];
    if (!next) return;
    event.preventDefault();
    void speak(next);
  };
  document.addEventListener("keydown", onKey, { signal });
};

/**
 * True also in a select, because these keys open its list. The path is read, because the event's
 * target is never an element in a shadow root.
 */
const isEditable = (event: Event): boolean => {
  const [target] = event.composedPath();
  return target instanceof Element && target.matches("input, select, textarea, [contenteditable]");
};

const isInView = ({ element }: Paragraph): boolean => element.getBoundingClientRect().bottom > 0;
