import { EngineFailed, SpeechTooLong } from "../../domain/errors.ts";
import { isEncoded as hasEncoder } from "../../domain/synthesis/formats.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import { preparationVersion, speakersOf } from "../../domain/text/preparation/prepare.ts";
import type { Speaker } from "../../domain/text/ssml-speaker.ts";
import { maxSpeechSeconds } from "../../subprocess/speech/speech-limit.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { type Engine, noVersion, type SpeechRequest } from "../engine.ts";
import { gainOf } from "./gains.ts";
import type { JapaneseReadings } from "./japanese/japanese-readings.ts";
import { type LocalTool, type LocalVoice, slowestRate } from "./local-tool.ts";
import { readerOf, type SpeechHost, speak } from "./speak.ts";
import { voicesByLanguage } from "./voices-by-language.ts";

interface LocalEngineParts {
  readonly host: SpeechHost & Pick<SubprocessHost, "requireCapacity" | "reserveEncoder">;
  readonly japanese: JapaneseReadings;
}

/**
 * The engine of these tools. Pages compute audio with it, so it imports nothing that only Node has,
 * except `Buffer` and `Readable`.
 */
export const localEngine = (
  code: EngineCode,
  tools: readonly LocalTool[],
  { host, japanese }: LocalEngineParts,
): Engine => {
  const find = (voice: string): { tool: LocalTool; name: string } | undefined => {
    const [, prefix, name] = /^([a-z]+):(.+)$/s.exec(voice) ?? [];
    const tool = tools.find((one) => one.prefix === prefix);
    return tool && name !== undefined && tool.has(name) ? { tool, name } : undefined;
  };
  const inLanguage = voicesByLanguage((voice) => find(voice) !== undefined);
  /**
   * The voice of words of a document.
   * @throws {EngineFailed} if the engine does not have it
   */
  const voiceOf = ({ voice, lang }: Speaker, request: Pick<SpeechRequest, "voice" | "lang">): LocalVoice => {
    const own = {
      name: voice?.name ?? request.voice,
      lang: voice?.lang ?? request.lang,
    };
    const { name } = (lang !== undefined && inLanguage(lang, own)) || own;
    const found = find(name);
    if (!found) throw new EngineFailed(`The engine ${code} does not have this voice.`);
    return { ...found, lang: lang ?? own.lang, gain: found.tool.appliesGain ? 1 : gainOf(name) };
  };
  const ask = <T>(voice: string, question: (tool: LocalTool, name: string) => T): T | undefined => {
    const found = find(voice);
    return found && question(found.tool, found.name);
  };

  return {
    code,
    // The preparation and the split of texts depend on ICU.
    version: (voice) =>
      ask(
        voice,
        (tool, name) => `${tool.version(name)}; text ${preparationVersion}; icu ${process.versions.icu}`,
      ) ?? noVersion,
    isExact: (voice) => ask(voice, (tool, name) => tool.isExact?.(name)) ?? true,
    isReproducible: (voice) => ask(voice, (tool, name) => tool.isReproducible?.(name)) ?? false,
    prosody: (voice) => ask(voice, (tool, name) => tool.prosodyParameters(name)) ?? [],
    takesSsml: (voice) => find(voice) !== undefined,
    otherVoices: (request) => {
      if (!find(request.voice)) return [];
      const speakers = speakersOf(request, (speaker) => readerOf(voiceOf(speaker, request)));
      const names = speakers.map((speaker) => voiceOf(speaker, request)).map(nameOf);
      return [...new Set(names)].filter((name) => name !== request.voice);
    },
    takesPhonemes: (voice) => find(voice)?.tool.takesPhonemes ?? false,
    marks: (voice) => find(voice)?.tool.reportsEvents ?? false,
    reportsPhonemes: (voice) => find(voice)?.tool.reportsPhonemes ?? false,
    synthesize: async (request, signal) => {
      const { tool, name } = voiceOf({}, request);
      requireSpeakable(tool, request);
      if (request.waiter) await host.requireCapacity(request.waiter, tool.modelOf?.(name));
      const isEncoded = request.encode && hasEncoder(request.format);
      const slot = isEncoded ? await host.reserveEncoder(signal, request.waiter) : undefined;
      try {
        const speaking = { host, japanese, slot, voiceOf: (speaker: Speaker) => voiceOf(speaker, request) };
        return await speak(request, speaking, signal);
      } catch (error) {
        slot?.release(); // nothing was encoded with it
        throw error;
      }
    },
  };
};

/** @throws {SpeechTooLong} if the text cannot be spoken within the limits */
const requireSpeakable = ({ minSeconds }: LocalTool, { text, ssml, lang, prosody }: SpeechRequest): void => {
  if (ssml) return; // the document may set another rate
  const seconds = (minSeconds?.(text, lang) ?? 0) / Math.max(prosody.rate, slowestRate);
  if (seconds > maxSpeechSeconds) throw new SpeechTooLong();
};

/** Writes the name as SystemVoice.voiceName does. */
const nameOf = ({ tool, name }: LocalVoice): string => `${tool.prefix}:${name}`;
