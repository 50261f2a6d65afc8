import { readSsml, type SsmlNode } from "./ssml-tree.ts";
import { ipaOfXSampa } from "./x-sampa.ts";

/** Words whose pronunciation a document gives. Offsets are UTF-16 code units of the text. */
export interface PronouncedWords {
  readonly start: number;
  readonly end: number;
  readonly ipa: string;
}

/** The words of a document of `runsOf`, and those of them that have phonemes, in their order. */
export const pronouncedText = (
  document: string,
): { readonly text: string; readonly pronounced: readonly PronouncedWords[] } => {
  const pronounced: PronouncedWords[] = [];
  let text = "";
  const read = (node: SsmlNode): void => {
    if (typeof node === "string") {
      text += node;
      return;
    }
    const start = text.length;
    node.content.forEach(read);
    const { alphabet = "ipa", ph } = node.attributes;
    if (node.name !== "phoneme" || ph === undefined || text.length === start) return;
    const ipa = alphabet === "ipa" ? ph : alphabet === "x-sampa" ? ipaOfXSampa(ph) : undefined;
    if (ipa !== undefined) pronounced.push({ start, end: text.length, ipa });
  };
  read(readSsml(document));
  return { text, pronounced };
};
