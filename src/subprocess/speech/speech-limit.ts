import { tap } from "../../async/tap.ts";
import { bytesPerSample } from "../../pcm/whole-samples.ts";
import { ToolFailed } from "../tools.ts";

/**
 * The longest speech of one text. Ordinary texts of 5,000 characters take at most 5,000 s
 * (Japanese, at the slowest rate), of which espeak-ng makes 200 in a second.
 */
export const maxSpeechSeconds = 7_200;

/**
 * The most CPU time of tools for complete audio. It is less than the time for which the pipeline
 * waits (`completeMs`). Elapsed time would depend on the machine's load, for which a client must
 * not be charged. A stream may take longer.
 */
const maxCpuMs = 8 * 60_000;

/**
 * Measures the speech of one text, and the work for it. Each method throws a ToolFailed with the
 * reason "tooLong" when either exceeds its limit.
 */
export const createSpeechLimit = (progressive: boolean) => {
  let seconds = 0;
  let cpuMs = 0;
  const check = (): void => {
    if (seconds > maxSpeechSeconds || (!progressive && cpuMs > maxCpuMs))
      throw new ToolFailed("tooLong", "The text takes too long to speak.");
  };
  return {
    check,
    addCpuTime: (ms: number): void => {
      cpuMs += ms;
    },
    /** Passes the samples of a piece on, and counts them. */
    within: (pcm: AsyncIterable<Buffer>, sampleRate: number): AsyncIterable<Buffer> =>
      tap(pcm, {
        onChunk: ({ length }) => {
          seconds += length / bytesPerSample / sampleRate;
          check();
        },
      }),
  };
};
