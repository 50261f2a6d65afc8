import { normalProsody, type Prosody } from "../synthesis/speech.ts";
import { isSpeakable } from "./speakable.ts";
import { breakMs } from "./ssml-breaks.ts";
import { isSameProsody, withProsody } from "./ssml-prosody.ts";
import { isSameSpeaker, type Speaker, speakerWithin } from "./ssml-speaker.ts";
import { around, isEmptyElement, readSsml, type SsmlElement, startTag, writeSsml } from "./ssml-tree.ts";
import { escapeXml } from "./xml.ts";

/**
 * Consecutive words that one voice speaks. Together, the runs have the spoken characters of the
 * text.
 */
export interface Run {
  /** Plain text, or a document without `<voice>` and `<lang>`. */
  readonly text: string;
  readonly ssml: boolean;
  /** Empty for the voice of the request. */
  readonly speaker: Speaker;
  /** Factors on the prosody of the request. */
  readonly prosody: Prosody;
  /** The silence that is added to the voice's own. */
  readonly pauseMs: { readonly before: number; readonly after: number };
  /** True if no sentence, paragraph or break separates it from the run before. */
  readonly continues: boolean;
}

export const plainRun = (text: string, speaker: Speaker = {}, continues = false): Run => ({
  ...{ text, ssml: false, speaker, prosody: normalProsody, pauseMs: { before: 0, after: 0 }, continues },
});

/** The pause after a paragraph, in addition to the one that a voice makes after a sentence. */
const paragraphMs = 200;

/** The elements that a voice reads by itself. */
export type ReadElements = "all" | "phonemes" | "none";

/**
 * Divides a document from `parseSsml` where its voice changes. If the voice does not read all
 * elements, its runs are divided where an element ends a sentence, is a pause, or changes the
 * prosody. These runs are plain texts, or documents with `<phoneme>` only. Emphasis has no effect
 * in them.
 */
export const runsOf = (document: string, readBy: (speaker: Speaker) => ReadElements): Run[] => {
  const turns = turnsOf(leavesOf(readSsml(document)));
  return turns.flatMap((turn) => {
    const read = readBy(turn.speaker);
    return read === "all" ? [documentOf(turn)] : plainRunsOf(turn, read === "phonemes");
  });
};

/**
 * Words, or an empty element, with the elements around them, except elements that change the voice.
 */
interface Leaf {
  readonly node: string | SsmlElement;
  readonly path: readonly SsmlElement[];
  readonly speaker: Speaker;
  readonly prosody: Prosody;
}

/** Lists what each voice of a document says, as the content of an element. `<lang>` stays in it. */
export const voicesOf = (
  document: string,
): { readonly voice: string | undefined; readonly content: string }[] =>
  turnsOf(leavesOf(readSsml(document), false)).map((turn) => {
    return { voice: turn.speaker.voice?.name, content: contentOf(turn).content };
  });

const leavesOf = (
  { content }: SsmlElement,
  /**
   * Local voices get documents that are divided by language too, and in which `<say-as>` has been
   * applied (preparation/say-as.ts).
   */
  isLocal = true,
  place: Omit<Leaf, "node"> = { path: [], speaker: {}, prosody: normalProsody },
): Leaf[] =>
  content.flatMap((node): Leaf[] => {
    if (typeof node === "string" || isEmptyElement(node)) return [{ ...place, node }];
    const { name, attributes } = node;
    const speaker = (isLocal || name === "voice") && speakerWithin(place.speaker, name, attributes);
    if (speaker) return leavesOf(node, isLocal, { ...place, speaker });
    const kept = isLocal && name === "say-as" ? spelledOut(node) : node;
    if (!kept) return leavesOf(node, isLocal, place);
    const prosody = name === "prosody" ? withProsody(place.prosody, attributes) : place.prosody;
    return leavesOf(node, isLocal, { ...place, path: [...place.path, kept], prosody });
  });

/**
 * Returns the element with the name by which espeak-ng itself reads characters one by one. Returns
 * undefined for any other reading, which has been applied already.
 */
const spelledOut = (element: SsmlElement): SsmlElement | undefined =>
  /^(?:characters|spell-out|verbatim)$/.test(element.attributes["interpret-as"] ?? "")
    ? { ...element, attributes: { "interpret-as": "characters" } }
    : undefined;

/** Consecutive leaves with the same speaker. */
interface Turn {
  readonly speaker: Speaker;
  readonly leaves: Leaf[];
  readonly continues: boolean;
}

const turnsOf = (leaves: readonly Leaf[]): readonly Turn[] => {
  const turns: Turn[] = [];
  /** Silences before the first words. */
  const silent: Leaf[] = [];
  let last: Leaf | undefined;
  for (const leaf of leaves) {
    const { node, speaker } = leaf;
    const turn = turns.at(-1);
    const ending = typeof node === "string" ? (endingOf.exec(node)?.[0] ?? "") : "";
    if (typeof node !== "string" || !isSpeakable(node)) {
      (turn?.leaves ?? silent).push(leaf);
      if (typeof node !== "string" && breakMs(node.attributes) > 0) last = undefined;
      continue;
    }
    const continues = last !== undefined && isSameSentence(last, leaf);
    last = leaf;
    if (turn && isSameSpeaker(turn.speaker, speaker)) turn.leaves.push(leaf);
    else if (turn && continues && ending !== "") {
      turn.leaves.push({ ...leaf, node: ending });
      turns.push({ speaker, leaves: [{ ...leaf, node: node.slice(ending.length) }], continues });
    } else turns.push({ speaker, leaves: turn ? [leaf] : [...silent, leaf], continues });
  }
  return turns.length > 0 ? turns : [{ speaker: {}, leaves: silent, continues: false }];
};

/** Matches punctuation that belongs to the words before it, whichever voice speaks them. */
const endingOf = /^(?:["']|\s*[\p{Terminal_Punctuation}\p{Pe}\p{Pf}…])+\s*/u;

const isSentence = ({ name }: SsmlElement): boolean => name === "p" || name === "s";

/** True if neither a paragraph nor a sentence begins or ends between them. */
const isSameSentence = ({ path: one }: Leaf, { path: other }: Leaf): boolean => {
  const [ours, theirs] = [one.filter(isSentence), other.filter(isSentence)];
  return ours.length === theirs.length && ours.every((element, at) => element === theirs[at]);
};

const documentOf = (turn: Turn): Run => {
  const { leaves, speaker, continues } = turn;
  const { content, hasMarkup } = contentOf(turn);
  if (!hasMarkup) return plainRun(leaves.map(({ node }) => node).join(""), speaker, continues);
  return { ...plainRun(`<speak>${content}</speak>`, speaker, continues), ssml: true };
};

const contentOf = ({ leaves }: Turn) => {
  const open: SsmlElement[] = [];
  let content = "";
  let hasMarkup = false;
  const moveTo = (path: readonly SsmlElement[]): void => {
    const differs = open.findIndex((element, at) => element !== path[at]);
    const common = differs === -1 ? open.length : differs;
    for (const { name } of open.splice(common).reverse()) content += `</${name}>`;
    for (const element of path.slice(common)) {
      content += startTag(element);
      open.push(element);
    }
  };
  for (const { node, path } of leaves) {
    moveTo(path);
    content += writeSsml(node);
    hasMarkup ||= path.length > 0 || typeof node !== "string";
  }
  moveTo([]);
  return { content, hasMarkup };
};

const plainRunsOf = ({ leaves, speaker, continues: first }: Turn, readsPhonemes: boolean): Run[] => {
  const runs: (Run & { text: string; ssml: boolean; pauseMs: { before: number; after: number } })[] = [];
  let [blanks, beforeMs] = ["", 0];
  let last: Leaf | undefined;
  const pause = (ms: number): void => {
    const run = runs.at(-1);
    if (run) run.pauseMs.after += ms;
    else beforeMs += ms;
  };
  const add = (run: { text: string; ssml: boolean }, { node, path }: Leaf): void => {
    const phoneme = readsPhonemes ? path.find(({ name }) => name === "phoneme") : undefined;
    const words = typeof node === "string" ? node : "";
    if (phoneme && !run.ssml) [run.text, run.ssml] = [escapeXml(run.text), true];
    const written = run.ssml ? escapeXml(words) : words;
    run.text += phoneme ? around(phoneme, written) : written;
  };
  for (const leaf of leaves) {
    const { node, prosody } = leaf;
    const run = runs.at(-1);
    if (typeof node !== "string") {
      const ms = node.name === "break" ? breakMs(node.attributes) : 0;
      pause(ms);
      if (ms > 0) last = undefined;
    } else if (!isSpeakable(node)) {
      if (run) add(run, { ...leaf, path: [] });
      else blanks += node;
    } else {
      const continues = run ? last !== undefined && isSameSentence(last, leaf) : first;
      if (last && endsParagraph(last, leaf)) pause(paragraphMs);
      if (run && continues && isSameProsody(run.prosody, prosody)) add(run, leaf);
      else {
        const pauseMs = { before: beforeMs, after: 0 };
        const run = { ...plainRun(blanks, speaker, continues), prosody, pauseMs };
        add(run, leaf);
        runs.push(run);
        [blanks, beforeMs] = ["", 0];
      }
      last = leaf;
    }
  }
  if (last?.path.some(({ name }) => name === "p")) pause(paragraphMs);
  if (runs.length === 0) return [plainRun(blanks, speaker, first)];
  return runs.map((run) => (run.ssml ? { ...run, text: `<speak>${run.text}</speak>` } : run));
};

const endsParagraph = ({ path }: Leaf, next: Leaf): boolean =>
  path.some((element) => element.name === "p" && !next.path.includes(element));
