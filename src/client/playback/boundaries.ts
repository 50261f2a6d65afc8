import type { AudioElement, StartTimer } from "../dom.ts";
import type { TextPart } from "../text-parts.ts";
import { sentText } from "../transport/markup.ts";

/** The beginning of a word or sentence, like the event of a `SpeechSynthesisUtterance`. */
export interface Boundary {
  readonly name: "word" | "sentence";
  /** Offset into the text in UTF-16 code units. */
  readonly charIndex: number;
  readonly charLength: number;
  /** Seconds since the start of the audio, or of the speech of a browser's own voice. */
  readonly elapsedTime: number;
}

/** A line of the service's marks: times in milliseconds, offsets in code points. */
interface Mark {
  readonly time: number;
  readonly type: "word" | "sentence" | "mark";
  readonly start: number;
  readonly end: number;
}

/** The boundaries in the part, from the service's marks of its audio: one JSON object per line. */
export const parseMarks = (lines: string, part: Pick<TextPart, "text" | "spans">): Boundary[] => {
  const marks: Mark[] = JSON.parse(`[${lines.trim().replaceAll("\n", ",")}]`);
  const { plainOffset } = sentText(part);
  return marks.flatMap(({ time, type, start, end }) => {
    if (type === "mark") return []; // an SSML <mark>
    const charIndex = plainOffset(start);
    return [{ name: type, charIndex, charLength: plainOffset(end) - charIndex, elapsedTime: time / 1_000 }];
  });
};

/**
 * Positions are compared at least this often, because playback may pause, stall or change its
 * speed.
 */
const maxWaitMs = 250;

/** Reports each boundary when playback reaches it, until the signal is aborted. */
export const followBoundaries = (
  audio: Pick<AudioElement, "currentTime" | "playbackRate">,
  boundaries: readonly Boundary[],
  onBoundary: (boundary: Boundary) => void,
  { startTimer, signal }: { readonly startTimer: StartTimer; readonly signal: AbortSignal },
): void => {
  let next = 0;
  const follow = (): void => {
    for (; !signal.aborted; next++) {
      const boundary = boundaries[next];
      if (!boundary) return;
      const leftMs = ((boundary.elapsedTime - audio.currentTime) / (audio.playbackRate || 1)) * 1_000;
      if (leftMs > 0) {
        wait(Math.min(leftMs, maxWaitMs));
        return;
      }
      onBoundary(boundary);
    }
  };
  const wait = (milliseconds: number): void => {
    const stopTimer = startTimer(milliseconds, () => {
      signal.removeEventListener("abort", stopTimer);
      follow();
    });
    signal.addEventListener("abort", stopTimer, { once: true });
  };
  follow();
};
