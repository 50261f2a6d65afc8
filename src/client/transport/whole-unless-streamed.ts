import { VoxledgerError } from "../errors.ts";
import type { OpenAudio } from "./prefetch.ts";
import type { VoiceRequest } from "./transport.ts";

/**
 * The service streams the paid voices alone, and refuses the others with `NOT_FOUND`. Those are downloaded whole
 * instead, without asking for a stream again: whoever prefers streams is to hear every voice.
 */
export const withDownloadFallback = (openStreamed: OpenAudio, openWhole: OpenAudio): OpenAudio => {
  const neverStreamed = new Set<string>();
  return async (part, wanted, signal) => {
    const name = nameOf(wanted);
    if (neverStreamed.has(name)) return await openWhole(part, wanted, signal);
    try {
      return await openStreamed(part, wanted, signal);
    } catch (error) {
      if (!(error instanceof VoxledgerError && error.code === "NOT_FOUND")) throw error;
      const sound = await openWhole(part, wanted, signal); // an unknown voice is not found here either
      neverStreamed.add(name);
      return sound;
    }
  };
};

const nameOf = ({ voice, lang }: VoiceRequest): string =>
  voice === undefined ? `language ${lang}` : `voice ${voice}`;
