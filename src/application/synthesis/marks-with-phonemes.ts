import type { Audio, Pipeline } from "../../audio/pipeline/pipeline.ts";
import { marksName, parseMarks } from "../../domain/synthesis/marks.ts";
import { formatWithPhonemes } from "../../domain/synthesis/phonemes.ts";

/**
 * Computes the marks of audio for the caller who sent its text: with the words, phonemes and
 * visemes, as lines of JSON. Phonemes disclose the words, so they are stored nowhere. The result is
 * empty if the voice reports nothing. `onBegin`: called when an engine begins to work.
 * @throws as `Pipeline.phonemes`
 */
export type MarksWithPhonemes = (
  audio: Audio,
  wanted: { readonly apiKey: string; readonly onBegin: () => void },
  signal: AbortSignal,
) => Promise<Buffer>;

export const createMarksWithPhonemes =
  ({ getAudio, phonemes }: Pick<Pipeline, "getAudio" | "phonemes">): MarksWithPhonemes =>
  async ({ rendition, name }, wanted, signal) => {
    if (!rendition.hasMarks) return Buffer.alloc(0);
    const spoken = await phonemes(rendition, wanted, signal);
    const marks = await getAudio(marksName(name), signal);
    return formatWithPhonemes(rendition.recipe.text, marks ? parseMarks(marks.bytes) : [], spoken);
  };
