import type { TextPart } from "../text-parts.ts";
import type { SpokenPart } from "../transport/transport.ts";
import type { Boundary } from "./boundaries.ts";

/** The parts from this offset of the text on. The first of them begins there. */
export const partsFrom = (parts: readonly SpokenPart[], startAt: number): readonly SpokenPart[] => {
  const from = Math.max(
    parts.findLastIndex(({ part }) => part.charIndex <= startAt),
    0,
  );
  const [first, ...others] = parts.slice(from);
  const offset = first ? Math.min(startAt - first.part.charIndex, first.part.text.length - 1) : 0;
  if (!first || offset <= 0) return parts.slice(from);
  return [{ ...first, part: { ...first.part, startAt: offset } }, ...others];
};

/** Where the playback of a part begins. */
interface PartStart {
  readonly startTime: (duration: number) => number;
  /** The boundaries from there on. */
  readonly boundaries: readonly Boundary[];
}

/** An estimate may be this much too late, so playback begins earlier. */
const leadSeconds = 0.3;

/**
 * Begins with the word at `startAt`. If the times of the words are unknown, begins with its
 * sentence, whose time is estimated from its place in the text.
 */
export const partStart = ({ text, startAt = 0 }: TextPart, boundaries: readonly Boundary[]): PartStart => {
  const words = boundaries.filter(({ name }) => name === "word");
  if (words.length > 0) {
    const time = words.findLast(({ charIndex }) => charIndex <= startAt)?.elapsedTime ?? 0;
    return {
      startTime: () => time,
      boundaries: boundaries.filter(({ elapsedTime }) => elapsedTime >= time),
    };
  }
  const share = sentenceStart(text, startAt) / text.length;
  return { startTime: (duration) => Math.max(duration * share - leadSeconds, 0), boundaries };
};

const sentenceStart = (text: string, at: number): number => {
  const segments = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return segments.containing(at)?.index ?? 0;
};
