import type { TextSection } from "../voxledger.ts";
import type { Feature } from "./feature.ts";
import { languageOf, withSpans } from "./text/language.ts";
import { blockOf } from "./text/paragraphs.ts";
import { plainText } from "./text/plain-text.ts";

/** A longer selection is cut. */
const maxLength = 20_000;

const selectedText = (): string => plainText(String(getSelection() ?? "")).slice(0, maxLength);

/**
 * Speaks the text that the visitor selects with the pointer or the keyboard. A click elsewhere ends
 * the speech.
 */
export const speakSelection: Feature = ({ speaker, signal }) => {
  let spoken = "";
  let speech: Promise<unknown> | undefined;
  const speak = (text: string): void => {
    const own = speaker
      .speak(selectedSections(text))
      .catch(() => {}) // OnError has reported it
      .finally(() => {
        if (speech === own) speech = undefined;
      });
    speech = own;
  };
  const onSelected = (): void => {
    const text = selectedText();
    if (text === spoken) return;
    spoken = text;
    if (text !== "") speak(text);
    else if (speech) speaker.stop(); // otherwise the same click has started another speech
  };
  // A click on a selection removes it after `pointerup`.
  const afterRelease = (): void => void setTimeout(onSelected);
  document.addEventListener("pointerup", afterRelease, { signal });
  const onKeyUp = ({ key }: KeyboardEvent): void => {
    if (key === "Shift" || key === "Control" || key === "Meta") onSelected(); // the selection is complete
  };
  document.addEventListener("keyup", onKeyUp, { signal });
};

/** A selected piece of a text node. */
interface Piece {
  readonly text: string;
  readonly parent: Element;
}

/** The selected text, divided where the language of the blocks changes. */
const selectedSections = (text: string): TextSection[] => {
  const range = getSelection()?.rangeCount ? getSelection()?.getRangeAt(0) : undefined;
  const pieces = range ? piecesOf(range) : [];
  const lengths = pieces.map((piece) => seenLength(piece.text));
  const isAligned = lengths.reduce((sum, length) => sum + length, 0) === seenLength(text);
  // Otherwise the selection leaves out text that its nodes contain, or was cut.
  if (!isAligned) return [{ text, lang: languageOf(elementOf(range?.commonAncestorContainer)) }];

  const sections: {
    text: string;
    lang: string | undefined;
    words: Parameters<typeof withSpans>[2][number][];
  }[] = [];
  let at = 0;
  for (const [index, { parent }] of pieces.entries()) {
    const length = lengthWith(text.slice(at), lengths[index] ?? 0);
    const lang = languageOf(blockOf(parent));
    let section = sections.at(-1);
    if (section?.lang !== lang || !section) {
      section = { text: "", lang, words: [] };
      sections.push(section);
    }
    const word = { charIndex: section.text.length, charLength: length, lang: languageOf(parent) ?? "" };
    section.words.push(word);
    section.text += text.slice(at, at + length);
    at += length;
  }
  return sections.map(({ text, lang, words }) => withSpans(text, lang, words));
};

const elementOf = (node: Node | undefined): Element | null =>
  node instanceof Element ? node : (node?.parentElement ?? null);

const piecesOf = (range: Range): Piece[] => {
  const { commonAncestorContainer: root, startContainer, startOffset, endContainer, endOffset } = range;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const pieces: Piece[] = [];
  for (
    let node: Node | null = root instanceof Text ? root : walker.nextNode();
    node;
    node = walker.nextNode()
  ) {
    const { data, parentElement: parent } = node as Text;
    const text = data.slice(
      node === startContainer ? startOffset : 0,
      node === endContainer ? endOffset : data.length,
    );
    if (parent && range.intersectsNode(node) && seenLength(text) > 0) pieces.push({ text, parent });
  }
  return pieces;
};

const seenLength = (text: string): number => plainText(text).replaceAll(" ", "").length;

/** The length of the shortest prefix with `seen` characters, not counting spaces. */
const lengthWith = (text: string, seen: number): number => {
  let left = seen;
  let length = 0;
  while (left > 0 || text[length] === " ") if (text[length++] !== " ") left--;
  return length;
};
