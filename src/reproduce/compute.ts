import type { AudioName } from "../application/synthesis/audio-names.ts";
import { normalProsody } from "../domain/synthesis/speech.ts";
import { readMarkdown } from "../domain/text/markdown.ts";
import { parseSsml } from "../domain/text/ssml.ts";
import type { SpeechRequest } from "../engines/engine.ts";
import { localEngine } from "../engines/local/local-engine.ts";
import { type ReadFile, toolFor } from "./tools.ts";

/** One channel of 16-bit samples. */
export interface Audio {
  readonly sampleRate: number;
  readonly samples: Int16Array<ArrayBuffer>;
}

/**
 * Recomputes the audio of a recipe from its text.
 * @throws if this page cannot recompute it
 */
export const compute = async (text: string, { recipe }: AudioName, readFile: ReadFile): Promise<Audio> => {
  if (recipe.replacements !== undefined)
    throw new Error("The website's lexicons replace words of this text, and this page does not have them.");
  const { tool, synthesize } = await toolFor(recipe.voice, readFile);
  const engine = localEngine(recipe.engine, [tool], {
    host: { synthesize, requireCapacity: async () => undefined, reserveEncoder: async () => undefined },
    japanese: { read: noJapanese, close: async () => undefined },
  });
  const version = engine.version(recipe.voice);
  if (withoutIcu(version) !== withoutIcu(recipe.tools))
    throw new Error(`The service now has another version of the voice: ${version}.`);
  const speech = await engine.synthesize(requestOf(text, recipe), new AbortController().signal);
  if (speech.encoding.kind !== "pcm") throw new Error("The engine returned no samples.");
  const chunks: Buffer[] = [];
  for await (const chunk of speech.audio) chunks.push(chunk);
  const bytes = Uint8Array.from(Buffer.concat(chunks));
  return { sampleRate: speech.encoding.sampleRate, samples: new Int16Array(bytes.buffer) };
};

const withoutIcu = (version: string): string => version.replace(/; icu [^;]*$/, "");

/** Repeats exactly the request of the service to its engine. */
const requestOf = (given: string, recipe: AudioName["recipe"]): SpeechRequest => {
  const { voice, lang, format } = recipe;
  const text = given.normalize("NFC");
  const spoken = { voice, lang, format, prosody: { ...normalProsody, ...recipe.prosody } };
  if (recipe.textFormat === "plain") return { ...spoken, text, ssml: false };
  if (recipe.textFormat === "ssml") return { ...spoken, text: parseSsml(text), original: text, ssml: true };
  const { document, ssml, replacements: reading } = readMarkdown(text)(true);
  return { ...spoken, text: ssml ? parseSsml(document) : document, original: text, reading, ssml };
};

const noJapanese = async (): Promise<never> => {
  throw new Error("This page does not have the dictionary of Japanese.");
};
