import { z } from "zod";
import type { Rendition } from "../../../application/synthesis/delivery.ts";
import { marksName, parseMarks } from "../../../domain/synthesis/marks.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import type { GetAudio } from "../audio.ts";
import { type ChunkedAudio, countingDelivery } from "../synthesis/stream.ts";
import { type Alignment, alignCharacters, CharacterAlignment, withoutEscapes } from "./alignment.ts";
import type { SsmlContent } from "./ssml-content.ts";

export const TimedAudio = namedSchema("ElevenLabsTimedAudio", {
  audio_base64: z.string(),
  alignment: CharacterAlignment.nullable().meta({
    description:
      "The times of words are those of the voice, within a word they are estimated. Null if the voice does not report when it speaks a word.",
  }),
  normalized_alignment: CharacterAlignment.nullable().meta({
    description: "The same: the text is not normalized.",
  }),
});

/**
 * Computes the times of the characters of complete audio; null if they are unknown.
 * @throws {Unavailable}
 */
export const alignmentOf = async (
  { recipe, ssml, name, hasMarks }: Rendition,
  { content }: { readonly content: SsmlContent | undefined },
  getAudio: GetAudio,
  signal: AbortSignal,
): Promise<Alignment | null> => {
  const marks = hasMarks ? await getAudio(marksName(name), signal) : undefined;
  if (!marks) return null;
  const { samples, sampleRate } = marks.length;
  const alignment = alignCharacters(
    { text: recipe.text, ssml },
    parseMarks(marks.bytes),
    samples / sampleRate,
  );
  return content ? withoutEscapes(alignment, content) : alignment;
};

/**
 * Yields a line of JSON for each chunk of audio, and a last line with the alignment if the times
 * are known.
 */
export async function* timedLines(
  stream: ChunkedAudio,
  read: { readonly content: SsmlContent | undefined },
  getAudio: GetAudio,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const chunk of countingDelivery(stream)) yield line(chunk.toString("base64"), null);
  const alignment = await alignmentOf(stream.rendition, read, getAudio, signal);
  if (alignment) yield line("", alignment);
}

/**
 * This number of bytes becomes base64 at once. It is a multiple of three, so that only the last
 * part is padded.
 */
const partBytes = 48 * 1024;

/**
 * Writes one TimedAudio as JSON, in parts: all of the audio in base64 would take three times its
 * size in memory for each request.
 */
export function* timedJson(audio: Buffer, alignment: Alignment | null): Generator<string> {
  yield '{"audio_base64":"';
  for (let at = 0; at < audio.length; at += partBytes) {
    yield audio.toString("base64", at, Math.min(at + partBytes, audio.length));
  }
  const times = JSON.stringify(alignment);
  yield `","alignment":${times},"normalized_alignment":${times}}`;
}

const line = (audio: string, alignment: Alignment | null): string =>
  `${JSON.stringify({ audio_base64: audio, alignment, normalized_alignment: alignment })}\n`;
