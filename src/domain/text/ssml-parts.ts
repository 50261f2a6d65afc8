import { SaxesParser } from "saxes";
import { spokenText } from "./spoken-text.ts";
import { breakMs } from "./ssml-breaks.ts";

/** Text that is spoken without interruption, and the silence after it. */
export interface TextPart {
  /** Empty: silence only. */
  readonly text: string;
  /** Where it begins in the document, in code points. */
  readonly position: number;
  readonly pauseMs: number;
}

/** After a paragraph, in addition to the pause that a voice makes after a sentence. */
const paragraphMs = 200;

/**
 * A document from `parseSsml` for a voice that takes plain texts: its text with the aliases of `<sub>`, divided where an
 * element ends a sentence or is a pause. Other elements, prosody included, have no effect.
 */
export const ssmlParts = (document: string): TextPart[] => {
  const { starts } = spokenText(document, true);
  const parts: TextPart[] = [];
  let text = "";
  /** Characters before `text`, and before its end. */
  let [from, at] = [0, 0];
  let replaced = 0;
  /** Empty paragraphs are no pauses: they would be a small request for much audio. */
  let speaks = false;

  const add = (more: string): void => {
    text += more;
    at += Array.from(more).length;
  };
  const end = (pauseMs: number): void => {
    const blanks = text.length - text.trimStart().length;
    const spoken = text.trim();
    speaks ||= spoken !== "";
    if (spoken !== "" || pauseMs > 0)
      parts.push({ text: spoken, position: starts[from + blanks] ?? 0, pauseMs });
    text = "";
    from = at;
  };

  const endParagraph = (): void => {
    end(speaks || text.trim() !== "" ? paragraphMs : 0);
    speaks = false;
  };

  const parser = new SaxesParser({ xmlns: false });
  parser.on("opentag", ({ name, attributes }) => {
    if (name === "p" || name === "s") end(0);
    if (name === "break") end(breakMs(attributes));
    if (name !== "sub") return;
    if (replaced === 0) add(attributes.alias ?? "");
    replaced++;
  });
  parser.on("closetag", ({ name }) => {
    if (name === "sub") replaced--;
    if (name === "s") end(0);
    if (name === "p") endParagraph();
  });
  parser.on("text", (more) => {
    if (replaced === 0) add(more);
  });
  parser.write(document).close();
  end(0);
  return parts;
};
